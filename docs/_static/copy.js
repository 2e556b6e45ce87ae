// SPDX-License-Identifier: BSD-3-Clause
// A button that copies the code of a block, of a console without prompts and printouts.
function code(pre) {
  const lines = pre.innerText.replace(/\n$/, "").split("\n");
  if (!lines.some(line => line.startsWith(">>> "))) return lines.join("\n");
  return lines.filter(line => /^(>>>|\.\.\.)( |$)/.test(line)).map(line => line.slice(4)).join("\n");
}

async function copy(text) {
  if (navigator.clipboard) return navigator.clipboard.writeText(text);
  const area = document.createElement("textarea"); // pages read from files
  area.value = text;
  document.body.append(area);
  area.select();
  document.execCommand("copy");
  area.remove();
}

document.addEventListener("DOMContentLoaded", () => {
  for (const pre of document.querySelectorAll("div.highlight > pre")) {
    if (pre.closest(".highlight-text, .cell_output")) continue;
    const button = document.createElement("button");
    button.className = "copy";
    button.type = "button";
    button.textContent = "Copy";
    button.addEventListener("click", async () => {
      await copy(code(pre));
      button.textContent = "Copied";
      setTimeout(() => { button.textContent = "Copy"; }, 1500);
    });
    pre.after(button);
  }
});
