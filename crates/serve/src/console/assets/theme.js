// Runs before the page is drawn, so that a chosen theme does not flash.
(() => {
  try {
    const chosen = localStorage.getItem("dowse-theme");
    if (chosen === "light" || chosen === "dark") document.documentElement.dataset.theme = chosen;
  } catch { /* storage may be off; the system's theme holds */ }
  document.documentElement.classList.add("has-script");
})();
