(() => {
  for (const root of document.querySelectorAll(".adjoint-report:not([data-ready])")) {
    root.dataset.ready = "";
    const told = root.querySelector(".ar-told");
    const lists = [...root.querySelectorAll("[role=listbox]")];
    const panels = [...root.querySelectorAll(".ar-panels section")];
    const derivative = panels[1];
    const all = [...root.querySelectorAll("[data-key]")];
    let held = null;

    const having = (key) => (key ? all.filter((one) => one.dataset.key === key) : []);
    const inView = (line) => {
      const list = line.closest("ol");
      if (!list) return;
      const top = line.offsetTop, bottom = top + line.offsetHeight;
      if (top < list.scrollTop || bottom > list.scrollTop + list.clientHeight) list.scrollTop = top - list.clientHeight / 3;
    };
    const numbers = (lines) => {
      const found = lines.map((line) => line.dataset.line);
      return (found.length > 1 ? "lines " : "line ") + found.join(", ");
    };
    const describe = (line, group) => {
      const there = group.filter((one) => one.matches("li") && derivative.contains(one));
      const here = group.filter((one) => one.matches("li") && !derivative.contains(one));
      const kept = group.filter((one) => one.matches("tr"));
      const parts = [];
      if (derivative.contains(line)) parts.push(here.length ? `From ${numbers(here)} of the program.` : "From no line of the program alone.");
      else parts.push(there.length ? `In ${numbers(there)} of the derivative.` : "Nothing in the derivative stands for it.");
      for (const row of kept) {
        const [loop, what, size, why] = [...row.querySelectorAll("td")].map((cell) => cell.textContent);
        parts.push(`Kept: ${row.querySelector("th").textContent}, ${what}, ${size}: ${why}.`);
      }
      return parts.join(" ");
    };
    const light = (line) => {
      for (const one of all) one.classList.remove("ar-on");
      if (!line) { told.textContent = "\u00a0"; return; }
      const group = having(line.dataset.key);
      for (const one of [line, ...group]) one.classList.add("ar-on");
      for (const panel of panels) {
        const first = group.find((one) => panel.contains(one) && !panel.contains(line));
        if (first) inView(first);
      }
      told.textContent = line.matches("tr") ? `Kept for ${numbers(group.filter((one) => one.matches("li") && !derivative.contains(one)))}.` : describe(line, group);
    };
    const hold = (line) => {
      for (const one of root.querySelectorAll("[aria-selected=true]")) one.setAttribute("aria-selected", "false");
      held = line;
      if (line) line.setAttribute("aria-selected", "true");
      light(line);
    };
    const go = (line) => {
      if (!line) return;
      for (const one of line.parentElement.children) one.tabIndex = -1;
      line.tabIndex = 0;
      line.focus({ preventScroll: true });
      inView(line);
    };

    for (const list of lists) if (list.firstElementChild) list.firstElementChild.tabIndex = 0;
    root.addEventListener("mouseover", (event) => {
      const line = event.target.closest("[data-key]");
      if (line && !held) light(line);
    });
    root.addEventListener("mouseleave", () => { if (!held) light(null); });
    root.addEventListener("focusin", (event) => {
      const line = event.target.closest("li[data-key]");
      if (line && !held) light(line);
    });
    root.addEventListener("click", (event) => {
      const line = event.target.closest("li[data-key]");
      if (line) { hold(held === line ? null : line); go(line); }
    });
    root.addEventListener("keydown", (event) => {
      const line = event.target.closest("li[data-key]");
      if (!line) return;
      const side = panels.findIndex((panel) => panel.contains(line));
      const across = (to) => {
        if (side === to) return null;
        const lines = [...panels[to].querySelectorAll("li")];
        return lines.find((one) => one.dataset.key && one.dataset.key === line.dataset.key) || lines[0];
      };
      const moves = {
        ArrowDown: () => line.nextElementSibling, ArrowUp: () => line.previousElementSibling,
        Home: () => line.parentElement.firstElementChild, End: () => line.parentElement.lastElementChild,
        ArrowRight: () => across(1), ArrowLeft: () => across(0),
      };
      if (event.key in moves) go(moves[event.key]());
      else if (event.key === "Enter" || event.key === " ") hold(held === line ? null : line);
      else if (event.key === "Escape") hold(null);
      else return;
      event.preventDefault();
      event.stopPropagation();
    });
  }
})();
