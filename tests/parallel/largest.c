/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The largest block that each place of a program asks malloc for, whoever asks: preloaded.
 *
 * A place is the innermost line of Python of symancf or of a script where Python runs, else the
 * library and function that asks.
 */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { PLACES = 8192, NAME = 192, LEAST = 4096 };

typedef void *Object;
static struct {
  char name[NAME];
  size_t largest;
} places[PLACES];
static int looking;
static __thread int inside;

static void *(*next_malloc)(size_t), *(*next_calloc)(size_t, size_t), *(*next_realloc)(void *, size_t);
static int (*next_memalign)(void **, size_t, size_t);

/* of Python */
static int (*has_gil)(void), (*line_of)(Object);
static Object (*frame)(void), (*outer)(Object), (*code_of)(Object), (*attribute)(Object, const char *);
static const char *(*text_of)(Object);
static void (*release)(Object);

static void find(void)
{
  *(void **)&next_malloc = dlsym(RTLD_NEXT, "malloc");
  *(void **)&next_calloc = dlsym(RTLD_NEXT, "calloc");
  *(void **)&next_realloc = dlsym(RTLD_NEXT, "realloc");
  *(void **)&next_memalign = dlsym(RTLD_NEXT, "posix_memalign");
}

void largest_begin(void)
{
  *(void **)&has_gil = dlsym(RTLD_DEFAULT, "PyGILState_Check");
  *(void **)&frame = dlsym(RTLD_DEFAULT, "PyEval_GetFrame");
  *(void **)&outer = dlsym(RTLD_DEFAULT, "PyFrame_GetBack");
  *(void **)&code_of = dlsym(RTLD_DEFAULT, "PyFrame_GetCode");
  *(void **)&attribute = dlsym(RTLD_DEFAULT, "PyObject_GetAttrString");
  *(void **)&line_of = dlsym(RTLD_DEFAULT, "PyFrame_GetLineNumber");
  *(void **)&text_of = dlsym(RTLD_DEFAULT, "PyUnicode_AsUTF8");
  *(void **)&release = dlsym(RTLD_DEFAULT, "Py_DecRef");
  memset(places, 0, sizeof places);
  looking = 1;
}

void largest_end(void) { looking = 0; }
int largest_places(void) { return PLACES; }
const char *largest_name(int k) { return places[k].name; }
size_t largest_bytes(int k) { return places[k].largest; }

/* The innermost line of Python outside of installed packages. */
static void line(char *to)
{
  Object f = frame(), held = NULL;
  while (f && !to[0]) {
    Object code = code_of(f), file = attribute(code, "co_filename"), before = held;
    const char *name = text_of(file);
    if (!strstr(name, "/site-packages/") && !strstr(name, "/dist-packages/") && !strstr(name, "/lib/python")) {
      const char *cut = strstr(name, "/symancf/"), *at = cut;
      while (at && (at = strstr(at + 1, "/symancf/"))) cut = at;
      snprintf(to, NAME, "%.150s:%d", cut ? cut + 1 : strrchr(name, '/') ? strrchr(name, '/') + 1 : name, line_of(f));
    }
    release(file);
    release(code);
    f = held = outer(f);
    if (before) release(before);
  }
  if (held) release(held);
}

static void note(size_t bytes, void *caller)
{
  if (!looking || bytes < LEAST || inside) return;
  inside = 1;
  char name[NAME] = "";
  Dl_info from;
  if (has_gil && has_gil()) line(name);
  if (!name[0] && dladdr(caller, &from) && from.dli_fname) {
    const char *cut = strrchr(from.dli_fname, '/');
    snprintf(name, NAME, "%.80s %.80s", cut ? cut + 1 : from.dli_fname, from.dli_sname ? from.dli_sname : "");
  }
  uint64_t h = 1469598103934665603u;
  for (const char *c = name; *c; c++) h = (h ^ (unsigned char)*c) * 1099511628211u;
  for (int k = 0; k < PLACES; k++) {
    const int at = (int)((h + (uint64_t)k) % PLACES);
    if (!places[at].name[0]) strcpy(places[at].name, name);
    if (strcmp(places[at].name, name)) continue;
    if (bytes > places[at].largest) places[at].largest = bytes;
    break;
  }
  inside = 0;
}

void *malloc(size_t n)
{
  if (!next_malloc) find();
  note(n, __builtin_return_address(0));
  return next_malloc(n);
}

void *calloc(size_t n, size_t size)
{
  static char first[1 << 16]; /* dlsym itself asks */
  static size_t used;
  if (!next_calloc) {
    void *const here = first + used;
    used += (n * size + 15) / 16 * 16;
    if (used > sizeof first) abort();
    return here;
  }
  note(n * size, __builtin_return_address(0));
  return next_calloc(n, size);
}

void *realloc(void *old, size_t n)
{
  if (!next_realloc) find();
  note(n, __builtin_return_address(0));
  return next_realloc(old, n);
}

int posix_memalign(void **to, size_t along, size_t n)
{
  if (!next_memalign) find();
  note(n, __builtin_return_address(0));
  return next_memalign(to, along, n);
}
