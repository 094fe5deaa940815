// The console works without this file; it makes it quicker. Everything that is put into a page
// comes from this server as HTML that it escaped.
"use strict";
(() => {
  const $ = (selector, within = document) => within.querySelector(selector);
  const $$ = (selector, within = document) => [...within.querySelectorAll(selector)];
  const base = document.documentElement.dataset.base || "";
  const isTyping = target =>
    target instanceof HTMLElement && (target.isContentEditable || /^(INPUT|TEXTAREA|SELECT)$/.test(target.tagName));

  // Light and dark.
  for (const button of $$("[data-theme-switch]")) {
    button.hidden = false;
    button.addEventListener("click", () => {
      const root = document.documentElement;
      const isDark = root.dataset.theme
        ? root.dataset.theme === "dark"
        : matchMedia("(prefers-color-scheme: dark)").matches;
      root.dataset.theme = isDark ? "light" : "dark";
      try { localStorage.setItem("dowse-theme", root.dataset.theme); } catch { /* for this page only */ }
    });
  }

  // The sections open from a button in a narrow window; in a wide one they are beside the page.
  const sections = $("#sections");
  if (sections?.hidePopover) {
    matchMedia("(min-width: 52.01rem)").addEventListener("change", event => {
      if (event.matches && sections.matches(":popover-open")) sections.hidePopover();
    });
  }

  // Copying. Buttons are shown only where they can do something.
  const prepare = within => {
    for (const button of $$("[data-copy]", within)) {
      button.hidden = !navigator.clipboard;
    }
    for (const box of $$(".scroll, .stages", within)) widths.observe(box);
    for (const input of $$("[data-slider]", within)) {
      const shown = $(input.dataset.slider);
      if (shown) shown.textContent = input.value;
    }
  };
  // What is wider than its box says so: the end of a column may look like the end of a table.
  const sideways = box => {
    const isWider = box.scrollWidth > box.clientWidth + 1;
    let note = box.previousElementSibling;
    if (!note?.matches(".sideways")) {
      if (!isWider) return;
      note = document.createElement("p");
      note.className = "note sideways";
      note.setAttribute("aria-hidden", "true");
      box.before(note);
      box.addEventListener("scroll", () => sideways(box), { passive: true });
    }
    const isAtEnd = box.scrollLeft + box.clientWidth >= box.scrollWidth - 1;
    note.hidden = !isWider;
    note.textContent = isAtEnd ? "← more at the left" : "more at the right →";
  };
  const widths = new ResizeObserver(entries => { for (const { target } of entries) sideways(target); });
  prepare(document);
  document.addEventListener("click", async event => {
    const button = event.target.closest("[data-copy]");
    if (!button) return;
    const source = $(button.dataset.copy);
    if (!source) return;
    await navigator.clipboard.writeText(source.value ?? source.textContent);
    const label = button.textContent;
    button.textContent = "Copied";
    setTimeout(() => { button.textContent = label; }, 1500);
  });

  // What a search found is said in one sentence: a reader of the screen would begin to read all
  // results with every letter.
  const said = document.createElement("p");
  said.className = "visually-hidden";
  said.setAttribute("role", "status");
  document.body.append(said);
  const announce = part => {
    const sentence = $(".summary, .problem, .good, .warnings, .empty .what", part);
    said.textContent = sentence?.textContent.trim() || "";
  };

  // Back and forward between views that a script has put up: the server shows them anew. A step
  // within a page, to one of its headings, changes neither path nor query.
  let here = location.pathname + location.search;
  addEventListener("popstate", () => {
    if (location.pathname + location.search !== here) location.reload();
  });

  // Searching as one types: the newest request alone counts, the one before is given up.
  for (const form of $$("form[data-live]")) {
    const target = $(form.dataset.live);
    let pending = null;
    let timer = 0;
    const address = () => {
      const data = new URLSearchParams();
      for (const [name, value] of new FormData(form)) if (value !== "") data.append(name, value);
      return data;
    };
    const refresh = async () => {
      pending?.abort();
      pending = new AbortController();
      const query = address();
      const shown = query.toString();
      query.set("part", form.dataset.part || "results");
      target.setAttribute("aria-busy", "true");
      try {
        const response = await fetch(`${form.action}?${query}`, { signal: pending.signal, headers: { "X-Requested-With": "console" } });
        // A session that has ended: what was typed is there again after signing in.
        if (response.redirected || response.status === 401) { location.href = shown ? `${form.action}?${shown}` : form.action; return; }
        target.innerHTML = await response.text();
        prepare(target);
        announce(target);
        if ("titled" in form.dataset) document.title = `${form.elements.q.value.trim() || "Search"} · Dowse`;
        const now = shown ? `${form.action}?${shown}` : form.action;
        // The first letters of a question are a step; Back leads to the page as it was before.
        const isStep = shown !== "" && location.search === "" && "titled" in form.dataset;
        history[isStep ? "pushState" : "replaceState"](null, "", now);
        here = location.pathname + location.search;
        document.body.classList.toggle("has-query", shown !== "");
        target.removeAttribute("aria-busy");
      } catch (error) {
        if (error.name === "AbortError") return;
        target.removeAttribute("aria-busy");
        target.textContent = "The server did not answer. Try again.";
      }
    };
    form.addEventListener("input", event => {
      if (event.target.closest("[data-not-live]")) return;
      clearTimeout(timer);
      timer = setTimeout(refresh, event.target.type === "search" || event.target.type === "text" ? 150 : 0);
    });
    form.addEventListener("submit", event => {
      event.preventDefault();
      clearTimeout(timer);
      refresh();
    });
  }

  // Lists of fields have one more row while the last is in use.
  document.addEventListener("input", event => {
    const list = event.target.closest("[data-grows]");
    const last = list?.lastElementChild;
    if (!last || !last.contains(event.target) || $("input", last).value === "") return;
    const more = last.cloneNode(true);
    const field = $("input", more);
    field.value = "";
    field.id = field.id.replace(/\d+$/, list.children.length);
    list.append(more);
  });

  // Sliders tell their value.
  document.addEventListener("input", event => {
    const shown = event.target.dataset?.slider && $(event.target.dataset.slider);
    if (shown) shown.textContent = event.target.value;
  });

  // Forms that change something small stay on the page.
  // A click shows at once, is sent also when its page is left, and counts after those before it.
  const sent = new WeakMap();
  document.addEventListener("submit", event => {
    const form = event.target.closest("form[data-quiet]");
    if (!form) return;
    event.preventDefault();
    const button = event.submitter;
    const data = new URLSearchParams(new FormData(form, button));
    // Without a page to go on to, the answer is that it was done and nothing else.
    data.delete("next");
    for (const other of $$("button[aria-pressed]", form)) other.setAttribute("aria-pressed", String(other === button));
    const send = async () => {
      let response = null;
      try { response = await fetch(form.action, { method: "POST", body: data, keepalive: true }); } catch { /* said below */ }
      // A session that has ended is sent to the page where one signs in.
      if (response?.redirected || response?.status === 401) { location.reload(); return; }
      if (!button) return;
      if (response?.ok) {
        if (!button.hasAttribute("aria-pressed")) button.setAttribute("aria-pressed", "true");
      } else {
        button.setAttribute("aria-pressed", "false");
        button.textContent = "Failed";
      }
    };
    sent.set(form, (sent.get(form) || Promise.resolve()).then(send));
  });

  // What cannot be undone is asked about once.
  const ask = $("#ask");
  document.addEventListener("submit", event => {
    const { target: form, submitter } = event;
    if (!("confirm" in form.dataset) || event.defaultPrevented || form.elements.confirmed || !ask) return;
    event.preventDefault();
    $("#ask-question").textContent = form.elements.question?.value || "Are you sure?";
    $("[value=yes]", ask).textContent = submitter?.textContent.trim() || "Yes";
    ask.returnValue = "";
    ask.onclose = () => {
      if (ask.returnValue !== "yes") return;
      // Without this answer the server asks on a page of its own.
      const answer = document.createElement("input");
      answer.type = "hidden";
      answer.name = "confirmed";
      answer.value = "yes";
      form.append(answer);
      form.requestSubmit(submitter);
    };
    ask.showModal();
  });

  // Forms that change something: what is refused is said below the form, with all that was typed
  // still in it. Without a script it is a page of its own.
  const path = form => new URL(form.action).pathname.slice(base.length);
  const changes = form => form.method === "post" && !("quiet" in form.dataset)
    && /^\/(do|sources)\/|^\/jobs\/cancel$|^\/tables\/[^/]+\/chart$/.test(path(form));
  document.addEventListener("submit", async event => {
    const { target: form, submitter } = event;
    if (event.defaultPrevented || !changes(form)) return;
    event.preventDefault();
    if (form.hasAttribute("aria-busy")) return;
    form.setAttribute("aria-busy", "true");
    const send = () => fetch(form.action, { method: "POST", body: new URLSearchParams(new FormData(form, submitter)), headers: { "X-Requested-With": "console" } });
    let response = null;
    let text = "";
    try {
      response = await send();
      // Whoever signed in again meanwhile has another token, which this page has now.
      if (response.status === 403) {
        const fresh = new DOMParser().parseFromString(await (await fetch(location.href)).text(), "text/html");
        const token = $("[name=form_token]", fresh)?.value;
        if (token && token !== form.elements.form_token.value) {
          for (const field of $$("[name=form_token]")) field.value = token;
          response = await send();
        }
      }
      text = await response.text();
    } catch { /* said below */ }
    form.removeAttribute("aria-busy");
    const next = response?.headers.get("X-Dowse-Next");
    if (next) {
      const to = new URL(next, location.href);
      const isHere = to.pathname + to.search === location.pathname + location.search;
      if (!isHere) { location.href = to.href; return; }
      history.replaceState(null, "", to.href);
      location.reload();
      return;
    }
    // Whoever presses again is asked again.
    form.elements.confirmed?.remove();
    const place = $(":scope > [data-refused]", form) || document.createElement("div");
    place.dataset.refused = "";
    if (response?.status === 401) {
      place.innerHTML = '<div class="problem" role="alert"><p>Your session has ended. <a>Sign in again</a> and come back: what is typed here stays, and can be sent then.</p></div>';
      $("a", place).href = `${base}/sign-in?next=${encodeURIComponent(path({ action: location.href }) + location.search)}`;
      $("a", place).target = "_blank";
    } else if (text && response.headers.get("Content-Type")?.startsWith("text/html")) {
      place.innerHTML = text;
    } else {
      place.innerHTML = '<div class="problem" role="alert"><p>The server did not answer. Try again.</p></div>';
    }
    form.append(place);
    place.scrollIntoView({ block: "nearest" });
  });

  // Progress: parts of a page that the server sends anew as it goes. A page has one connection for
  // all of them, and none while nobody sees it: a browser has six for all pages of a server.
  const replacePart = (part, text) => {
    if (part.contains(document.activeElement) && isTyping(document.activeElement)) return;
    // What has the focus and what was opened stay so.
    const places = "a, button, summary, [tabindex]";
    const focused = $$(places, part).indexOf(document.activeElement);
    const opened = $$("details", part).map(details => details.open);
    part.innerHTML = text;
    $$("details", part).forEach((details, position) => { details.open = opened[position] ?? false; });
    if (focused >= 0) $$(places, part)[focused]?.focus();
    prepare(part);
  };
  const watched = $$("[data-events]");
  for (const address of new Set(watched.map(part => part.dataset.events))) {
    const parts = watched.filter(part => part.dataset.events === address);
    let events = null;
    const leave = () => { events?.close(); events = null; };
    const follow = () => {
      if (document.hidden) { leave(); return; }
      if (events) return;
      events = new EventSource(address);
      for (const part of parts) events.addEventListener(part.dataset.part, event => replacePart(part, event.data));
    };
    document.addEventListener("visibilitychange", follow);
    addEventListener("pagehide", leave);
    addEventListener("pageshow", follow);
    follow();
  }

  // Uploads: dropped or chosen, one after the other, each with its progress.
  for (const zone of $$("[data-upload]")) {
    const input = $("input[type=file]", zone);
    const list = $("[data-uploads]", zone);
    const send = file => new Promise(done => {
      const row = document.createElement("li");
      const name = document.createElement("span");
      name.textContent = file.name;
      const bar = document.createElement("progress");
      bar.max = 1;
      bar.setAttribute("aria-label", `Upload of ${file.name}`);
      const state = document.createElement("span");
      row.append(name, bar, state);
      list.append(row);
      const body = new FormData();
      if ("named" in zone.dataset) body.append("name", file.name.replace(/\.json$/i, ""));
      body.append("file", file);
      const request = new XMLHttpRequest();
      request.open("POST", zone.dataset.upload);
      request.setRequestHeader("X-Dowse-Form", zone.dataset.token);
      request.upload.addEventListener("progress", event => { if (event.lengthComputable) bar.value = event.loaded / event.total; });
      request.addEventListener("loadend", () => {
        let answer = {};
        try { answer = JSON.parse(request.responseText); } catch { /* an error that is no JSON */ }
        const isOk = request.status >= 200 && request.status < 300;
        bar.value = isOk ? 1 : 0;
        state.textContent = isOk ? "taken in, being indexed" : (answer.error?.message || "failed");
        const copied = (answer.duplicates || []).map(copy => copy.of?.title).filter(Boolean);
        if (copied.length) {
          const note = document.createElement("span");
          note.className = "note";
          note.textContent = `The same content is already in “${copied.join("”, “")}”.`;
          row.append(note);
        }
        row.className = isOk ? "ok" : "failed";
        done();
      });
      request.send(body);
    });
    // What was uploaded appears in its list, and the list is looked at until all of it is indexed.
    const refresh = async () => {
      const shown = $$("[data-refresh]");
      for (let round = 0; shown.length && round < 120; round += 1) {
        await new Promise(done => { setTimeout(done, 1000); });
        let text = "";
        try { text = await (await fetch(location.href)).text(); } catch { continue; }
        const fresh = $$("[data-refresh]", new DOMParser().parseFromString(text, "text/html"));
        if (fresh.length !== shown.length) return;
        shown.forEach((part, position) => {
          if (part.contains(document.activeElement) && isTyping(document.activeElement)) return;
          part.replaceChildren(...fresh[position].childNodes);
          prepare(part);
        });
        if (shown.some(part => $(".badge.pending, .badge.queued, .badge.indexing, .badge.running", part))) continue;
        for (const row of $$(".ok", list)) {
          const entries = zone.dataset.done ? shown : $$("[data-file]").filter(entry => entry.dataset.file === row.firstChild.textContent);
          const hasFailed = entries.some(entry => $(".badge.failed", entry));
          row.className = hasFailed ? "failed" : "ok";
          row.children[2].textContent = hasFailed ? "failed: the page says why" : zone.dataset.done || "in the list below";
        }
        return;
      }
    };
    const all = async files => {
      for (const file of files) await send(file);
      input.value = "";
      await refresh();
    };
    $("[data-plain]", zone)?.setAttribute("hidden", "");
    input.addEventListener("change", () => all([...input.files]));
    for (const name of ["dragenter", "dragover"]) {
      zone.addEventListener(name, event => { event.preventDefault(); zone.classList.add("over"); });
    }
    for (const name of ["dragleave", "drop"]) {
      zone.addEventListener(name, event => { event.preventDefault(); zone.classList.remove("over"); });
    }
    zone.addEventListener("drop", event => all([...event.dataTransfer.files]));
  }

  // Keys.
  const dialog = $("#keys");
  for (const button of $$("[data-keys]")) {
    button.hidden = false;
    button.addEventListener("click", () => dialog.showModal());
  }
  // Letters alone can be switched off: speech and some keyboards press them by mistake.
  const letters = $("[data-letters]");
  let hasLetters = true;
  try { hasLetters = localStorage.getItem("dowse-letters") !== "off"; } catch { /* as usual */ }
  if (letters) {
    letters.checked = hasLetters;
    letters.addEventListener("change", () => {
      hasLetters = letters.checked;
      try { localStorage.setItem("dowse-letters", hasLetters ? "on" : "off"); } catch { /* for this page only */ }
    });
  }
  let isGoing = false;
  document.addEventListener("keydown", event => {
    if (event.ctrlKey || event.metaKey || event.altKey) return;
    if (event.key === "Escape" && isTyping(event.target)) { event.target.blur(); return; }
    if (isTyping(event.target) || $("dialog[open]") || !hasLetters) return;
    if (isGoing) {
      isGoing = false;
      const link = $(`.sections [data-go="${CSS.escape(event.key)}"]`);
      if (link) { event.preventDefault(); location.href = link.href; }
      return;
    }
    const titles = $$(".hits .title");
    const move = step => {
      const now = titles.indexOf(document.activeElement);
      titles[Math.min(Math.max(now + step, 0), titles.length - 1)]?.focus();
    };
    switch (event.key) {
      case "/": {
        const field = $("#q") || $("main input[type=search]");
        event.preventDefault();
        if (field) { field.focus(); field.select(); } else location.href = `${base}/`;
        break;
      }
      case "j": move(1); break;
      case "k": move(-1); break;
      case "g": isGoing = true; setTimeout(() => { isGoing = false; }, 1200); break;
      case "?": dialog?.showModal(); break;
    }
  });
})();
