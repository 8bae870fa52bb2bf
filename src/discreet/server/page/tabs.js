// Tabs, as keyboards expect them: arrows move, Tab leaves. A tab `tab-NAME` shows the panel `view-NAME`.
import { $ } from "./dom.js";

export function chooseTab(names, chosen, focus = false) {
  for (const name of names) {
    const tab = $(`tab-${name}`),
      isChosen = name === chosen;
    tab.setAttribute("aria-selected", isChosen);
    tab.tabIndex = isChosen ? 0 : -1;
    if (isChosen && focus) tab.focus();
    $(`view-${name}`).hidden = !isChosen;
  }
}

export function offerTabs(names) {
  names.forEach((name, i) => {
    $(`tab-${name}`).addEventListener("click", () => chooseTab(names, name));
    $(`tab-${name}`).addEventListener("keydown", (event) => {
      const step = { ArrowRight: 1, ArrowLeft: -1 }[event.key];
      if (step) chooseTab(names, names.at((i + step) % names.length), true);
    });
  });
  chooseTab(names, names[0]);
}
