# SPDX-License-Identifier: BSD-3-Clause
"""Ask the site's own search for each term in headless Chromium: python docs/_search.py [FOLDER].

`make docs` does. The page that answers a term must be among the first three hits. Chromium reads
the site from a server on this machine and posts what its search page shows.
"""

from __future__ import annotations

import functools
import json
import queue
import shutil
import subprocess
import sys
import tempfile
from http.server import SimpleHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from threading import Thread

NAMES = ("chromium", "chromium-browser", "google-chrome", "chrome")
FIRST = 3  # hits among which the answer must be
LIMIT = 300.0  # seconds for all terms

#: term -> page that answers it
TERMS = {
    "boundary condition": "guide/systems",
    "Dirichlet": "guide/systems",
    "Neumann": "guide/systems",
    "traction": "guide/systems",
    "pressure load": "guide/pressure",
    "hyperelastic": "guide/energies",
    "viscoelastic": "how-to/viscoelastic-finger",
    "softening of rubber": "guide/energies",
    "Prony series": "how-to/viscoelastic-finger",
    "relaxation": "how-to/viscoelastic-finger",
    "plasticity": "guide/energies",
    "Mullins effect": "guide/energies",
    "Bergström-Boyce": "guide/energies",
    "adjoint": "guide/gradients",
    "trace": "guide/gradients",
    "limit load": "guide/gradients",
    "load history": "guide/gradients",
    "reference positions": "guide/gradients",
    "buckling_gradient": "guide/gradients",
    "modes.gradient": "guide/gradients",
    "Gauss-Newton": "guide/gradients",
    "PyTorch": "guide/gradients",
    "JAX": "guide/gradients",
    "inverse problem": "guide/gradients",
    "sensitivity": "guide/gradients",
    "gradient of a motion": "guide/gradients",
    "damping": "guide/motions",
    "Rayleigh damping": "guide/motions",
    "Kelvin-Voigt": "guide/motions",
    "neo-Hookean": "guide/energies",
    "Mooney-Rivlin": "guide/energies",
    "Ogden": "guide/energies",
    "Yeoh": "api/energies",
    "Hencky": "guide/energies",
    "Fung": "guide/energies",
    "Holzapfel-Gasser-Ogden": "guide/energies",
    "soft tissue": "guide/energies",
    "material fitting": "guide/energies",
    "StructureTest": "guide/energies",
    "incompressible": "guide/energies",
    "Layers relax": "elements/layers",
    "locking": "elements",
    "shear locking": "elements",
    "mesh refinement": "guide/meshes",
    "quadratic element": "elements",
    "shell element": "elements",
    "beam element": "elements",
    "cable element": "elements",
    "tendon": "guide/tendons",
    "pulley": "guide/tendons",
    "continuum robot": "tutorials/continuum",
    "tendon routing": "tutorials/continuum",
    "Bowden cable": "tutorials/continuum",
    "cable-driven": "how-to/tendon-driven-arm",
    "pneumatic": "guide/pressure",
    "fibre-reinforced": "how-to/fibre-reinforced-actuator",
    "fibre-reinforced actuator": "how-to/fibre-reinforced-actuator",
    "Ecoflex": "guide/energies",
    "thermal strain": "guide/fields",
    "growth": "guide/fields",
    "dielectric": "guide/fields",
    "braid": "guide/threads",
    "helix": "guide/threads",
    "helical": "guide/threads",
    "embedded rod": "guide/threads",
    "McKibben": "how-to/mckibben-muscle",
    "pneumatic artificial muscle": "how-to/mckibben-muscle",
    "magnetic actuation": "how-to/magnetic-beam",
    "soft gripper": "demos/index",
    "arm identification": "demos/arm_identification",
    "rigid body": "joints",
    "revolute joint": "joints",
    "spherical joint": "joints",
    "constraint": "guide/systems",
    "Lagrange multiplier": "guide/systems",
    "Baumgarte": "guide/motions",
    "controller": "joints",
    "closed loop": "how-to/control-loop",
    "reset": "how-to/control-loop",
    "reinforcement learning": "how-to/control-loop",
    "contact": "contact",
    "friction": "contact",
    "self-contact": "how-to",
    "penetration": "contact",
    "time integration": "guide/motions",
    "time step": "guide/motions",
    "generalized-alpha": "guide/motions",
    "explicit": "guide/motions",
    "event": "guide/motions",
    "energy balance": "guide/motions",
    "eigenfrequency": "guide/vibration",
    "mode shape": "guide/vibration",
    "buckling": "guide/vibration",
    "capstan": "guide/tendons",
    "snap-through": "guide/statics",
    "arc length": "guide/statics",
    "convergence problem": "errors",
    "solver options": "guide/statics",
    "direct solver": "hpc/solvers",
    "multigrid": "hpc/solvers",
    "bddc": "hpc/solvers",
    "domain decomposition": "hpc/solvers",
    "MPI": "tutorials/restart",
    "Slurm": "hpc/index",
    "checkpoint": "guide/results",
    "restart": "tutorials/restart",
    "ParaView": "guide/results",
    "slab by slab": "guide/results",
    "reaction force": "guide/systems",
    "stress plot": "guide/results",
    "von Mises": "conventions",
    "principal stress": "guide/results",
    "Abaqus": "coming-from",
    "Gmsh": "guide/meshes",
    "STEP": "guide/meshes",
    "consistent units": "conventions",
    "symbolic residual": "kernels",
    "frame indifference": "guide/check",
    "strong ellipticity": "guide/check",
    "UMAT": "how-to",
    "C code": "kernels",
}

# One frame shows the site's search page for one term after the other.
ASK = """<!doctype html><iframe id="f"></iframe><script>
const frame = document.getElementById("f"), found = {};
const pause = ms => new Promise(done => setTimeout(done, ms));
async function ask(term) {
  frame.src = "/search.html?q=" + encodeURIComponent(term);
  await new Promise(done => frame.onload = done);
  for (let k = 0; k < 400; k++) {
    const page = frame.contentDocument, said = page.querySelector(".search-summary");
    const links = [...page.querySelectorAll("ul.search li > a")];
    if (said && said.textContent && links.length >= 3 || k > 100 && said && said.textContent)
      return links.map(link => new URL(link.href).pathname);
    await pause(20);
  }
  return [];
}
(async () => {
  for (const term of TERMS) found[term] = await ask(term);
  await fetch("/found", {method: "POST", body: JSON.stringify(found)});
})();
</script>"""


class Site(SimpleHTTPRequestHandler):
    """Serve the site, the page that asks, and take what it found."""

    found: queue.Queue[dict[str, list[str]]]

    def do_GET(self) -> None:
        """Send the page that asks, or a file of the site."""
        if self.path != "/ask":
            super().do_GET()
            return
        self.send_response(200)
        self.send_header("Content-Type", "text/html")
        self.end_headers()
        self.wfile.write(ASK.replace("TERMS", json.dumps(list(TERMS))).encode())

    def do_POST(self) -> None:
        """Take the hits of all terms."""
        text = self.rfile.read(int(self.headers["Content-Length"]))
        self.send_response(204)
        self.end_headers()
        self.found.put(json.loads(text))

    def log_message(self, *_: object) -> None:
        """Say nothing about requests."""


def hits(site: Path, browser: str) -> dict[str, list[str]]:
    """Return the pages that the search shows for each term, the first one first."""
    Site.found = queue.Queue()
    server = ThreadingHTTPServer(("127.0.0.1", 0), functools.partial(Site, directory=str(site)))
    Thread(target=server.serve_forever, daemon=True).start()
    address = f"http://127.0.0.1:{server.server_port}/ask"
    with tempfile.TemporaryDirectory(ignore_cleanup_errors=True) as folder:
        options = ["--headless", "--no-sandbox", "--disable-gpu", f"--user-data-dir={folder}"]
        command = [browser, *options, "--remote-debugging-port=0", address]
        process = subprocess.Popen(command, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        try:
            found = Site.found.get(timeout=LIMIT)
        except queue.Empty:
            raise SystemExit(f"{browser} did not answer in {LIMIT:g} s") from None
        finally:
            process.terminate()
            process.wait()
            server.shutdown()
    return {
        term: list(dict.fromkeys(path.strip("/").removesuffix(".html") for path in pages))
        for term, pages in found.items()
    }


def main(site: Path) -> None:
    """Check the search of a built site."""
    browser = next(filter(None, map(shutil.which, NAMES)), None)
    if browser is None:
        raise SystemExit(
            "the site's search was not checked, for there is no Chromium: "
            "apt-get install chromium (Debian), then python docs/_search.py"
        )
    found = hits(site, browser)
    missed = [
        f"{term!r}: {page} is not among the first {FIRST}: {', '.join(found[term][:FIRST])}"
        for term, page in TERMS.items()
        if page not in found[term][:FIRST]
    ]
    if missed:
        raise SystemExit("\n".join(missed))
    print(f"search: each of {len(TERMS)} terms leads to the page that answers it")


if __name__ == "__main__":
    main(Path(sys.argv[1] if sys.argv[1:] else Path(__file__).with_name("_build") / "html"))
