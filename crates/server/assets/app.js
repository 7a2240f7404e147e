// Keyboard shortcuts, toasts, and live updates. Without this script every page and form still works.
(() => {
  'use strict';
  const $ = (selector, within = document) => within.querySelector(selector);
  const all = (selector, within = document) => [...within.querySelectorAll(selector)];
  const root = document.documentElement;

  // ---------- reload of the main part ----------
  let pending = 0;
  let typed = 0;
  document.addEventListener('input', () => { typed += 1; });
  function refresh() {
    const main = $('#main');
    if (!main) return;
    const known = new Set(all('[data-id]', main).map(row => row.dataset.id));
    if (drafts().some(isDirty)) {
      pending += 1;
      return live();
    }
    const focus = place(document.activeElement);
    const at = current()?.dataset.id;
    const before = typed;
    const opened = new Set(all('details[open]', main).map(label));
    pending = 0;
    live();
    // Do not swap if the user began to type; the update waits.
    const late = event => {
      if (event.detail.target === main && typed !== before) event.detail.shouldSwap = false;
    };
    main.addEventListener('htmx:beforeSwap', late);
    const came = htmx.ajax('GET', location.pathname + location.search, {target: '#main', swap: 'outerHTML'});
    came.finally(() => main.removeEventListener('htmx:beforeSwap', late)).then(() => {
      if (main.isConnected) {
        pending += 1;
        return live();
      }
      all('#main [data-id]').filter(row => !known.has(row.dataset.id) && known.size).forEach(row => {
        row.classList.add('htmx-added');
        setTimeout(() => row.classList.remove('htmx-added'), 4000);
      });
      all('#main details:not([open])').filter(one => opened.has(label(one))).forEach(one => { one.open = true; });
      restore(focus);
      const row = at && !current() && $(`.list > [data-id="${CSS.escape(at)}"]`);
      if (row) row.setAttribute('aria-current', 'true');
    });
  }
  // Identifies a foldable part across a reload.
  function label(details) {
    return `${details.closest('[data-id]')?.dataset.id || ''} ${details.id || $('summary', details).textContent}`;
  }
  // Describes the focused element, so that it can be found after the swap.
  function place(element) {
    if (!element || element === document.body) return null;
    const row = element.closest('[data-id]');
    return {id: element.id, row: row && row.dataset.id, name: element.name, href: element.getAttribute('href')};
  }
  function restore(was) {
    if (!was) return;
    const within = was.row && $(`[data-id="${CSS.escape(was.row)}"]`);
    const found = (was.id && document.getElementById(was.id))
      || (within && was.name && $(`[name="${CSS.escape(was.name)}"]`, within))
      || (within && $('a,button', within));
    if (found) found.focus({preventScroll: true});
  }
  document.addEventListener('heirloom:changed', refresh);

  // ---------- counts: headline, sections and navigation follow a change of one row ----------
  async function recount() {
    const answer = await fetch(location.pathname + location.search, {headers: {accept: 'text/html'}});
    if (!answer.ok) return;
    const page = new DOMParser().parseFromString(await answer.text(), 'text/html');
    ['#nav .nav', '#main h1', '#main .head .sub', '#main nav.seg'].forEach(selector => {
      const [now, then] = [all(selector), all(selector, page)];
      if (now.length === then.length) now.forEach((one, at) => { if (one.innerHTML !== then[at].innerHTML) one.innerHTML = then[at].innerHTML; });
    });
  }
  document.addEventListener('htmx:afterRequest', event => {
    const request = event.detail.requestConfig;
    if (request && request.verb === 'post' && event.detail.successful && request.path !== '/preview') recount();
  });

  // ---------- toasts: ten seconds, longer under pointer or focus ----------
  let hideTimer;
  function watchToast() {
    const toast = $('#toast .toast');
    clearTimeout(hideTimer);
    if (!toast) return;
    const leave = () => { hideTimer = setTimeout(() => toast.remove(), 10000); };
    toast.addEventListener('pointerenter', () => clearTimeout(hideTimer));
    toast.addEventListener('pointerleave', leave);
    toast.addEventListener('focusin', () => clearTimeout(hideTimer));
    toast.addEventListener('focusout', leave);
    leave();
  }
  function showToast(words) {
    const toast = document.createElement('div');
    toast.className = 'toast';
    const span = document.createElement('span');
    span.textContent = words;
    toast.append(span);
    $('#toast').replaceChildren(toast);
    watchToast();
  }
  new MutationObserver(watchToast).observe($('#toast') || document.body, {childList: true});
  watchToast();
  // Removes the last change from the URL, so that a reload does not repeat the toast.
  const wasDone = /[?&]done=/.test(location.search);
  if (/[?&]done=/.test(location.search)) {
    const query = new URLSearchParams(location.search);
    query.delete('done');
    query.delete('undo');
    const rest = query.toString();
    history.replaceState(history.state, '', location.pathname + (rest ? '?' + rest : '') + location.hash);
  }

  document.addEventListener('htmx:responseError', event => {
    const answer = event.detail.xhr;
    if (answer.status === 401) return location.reload();
    let words = 'Something went wrong; nothing was changed.';
    try {
      const said = JSON.parse(answer.responseText);
      words = [said.detail, said.hint].filter(Boolean).join('. ');
    } catch {
      const page = new DOMParser().parseFromString(answer.responseText, 'text/html');
      words = page.querySelector('#what')?.textContent || words;
    }
    showToast(words);
  });
  document.addEventListener('htmx:sendError', () => showToast('The server does not answer; nothing was changed.'));
  // Move the focus with the form.
  document.addEventListener('htmx:afterSettle', event => {
    const at = event.detail.elt;
    const field = at.matches?.('#edit,#new') ? $('textarea', at) : null;
    if (field) { field.focus(); field.setSelectionRange(field.value.length, field.value.length); }
  });
  document.addEventListener('htmx:afterSwap', event => {
    const edited = event.detail.requestConfig?.elt;
    if (edited && !document.contains(edited) && document.activeElement === document.body) {
      const row = event.detail.elt?.closest?.('[data-id]') || event.detail.elt;
      row?.querySelector?.('a,button')?.focus({preventScroll: true});
    }
  });

  // ---------- live updates: no reload while the user types or has scrolled down ----------
  function isBusy() {
    const at = document.activeElement;
    return Boolean($('#edit,#new:not([hidden]) textarea,.editor')) || scrollY > 160
      || Boolean(at && at.closest('#main') && at.matches('input,textarea,select')) || Boolean($('[popover]:popover-open:not(#nav)'));
  }
  function live() {
    const badge = $('#live');
    if (!badge) return;
    badge.hidden = false;
    badge.lastElementChild.textContent = pending ? `${pending} new` : 'Live';
  }
  let soon;
  function onChange() {
    pending += 1;
    clearTimeout(soon);
    soon = setTimeout(() => { if (isBusy() || document.hidden) live(); else refresh(); recount(); }, 300);
  }
  const live_pages = ['overview', 'knowledge', 'tasks', 'receipts', 'sessions', 'marks'];
  const address = document.body.dataset.events;
  if (address && live_pages.includes($('#main')?.dataset.at)) {
    const stream = new EventSource(address);
    stream.onopen = live;
    const named = ['created', 'replaced', 'conflict', 'confirmed', 'retired', 'restored', 'resolved', 'reopened', 'imported', 'reversed', 'purged', 'marked'];
    named.forEach(name => stream.addEventListener(name, onChange));
    stream.onerror = () => {
      const badge = $('#live');
      if (badge && stream.readyState === EventSource.CLOSED) badge.hidden = true;
    };
    addEventListener('pagehide', () => stream.close());
  }
  $('#live')?.addEventListener('click', () => { if (pending) { scrollTo(0, 0); refresh(); } });
  document.addEventListener('visibilitychange', () => { if (!document.hidden && pending && !isBusy()) refresh(); });

  // ---------- keys ----------
  const letters = root.dataset.keys !== 'off';
  const rows = () => all('.list > li:not(.gone)').filter(row => row.offsetParent);
  const current = () => $('.list > li[aria-current]') || $('.list > li.on');
  function go(step) {
    const list = rows();
    if (!list.length) return;
    const row = current();
    let at = list.indexOf(row);
    if (row && at < 0) {
      // The current row was removed: continue at its place.
      at = list.filter(one => row.compareDocumentPosition(one) & Node.DOCUMENT_POSITION_PRECEDING).length - (step > 0 ? 1 : 0);
    } else if (!row) {
      at = -step;
    }
    const next = list[Math.min(list.length - 1, Math.max(0, at + step))];
    all('.list > li[aria-current]').forEach(row => row.removeAttribute('aria-current'));
    next.setAttribute('aria-current', 'true');
    next.scrollIntoView({block: 'nearest'});
    const link = $('a[href],button', next);
    if (link) link.focus({preventScroll: true});
  }
  // A key clicks its element; hidden elements can be clicked too.
  function press(key) {
    const row = current();
    const found = (row && $(`[data-key="${key}"]`, row)) || $(`[data-page-key="${key}"]`)
      || (['n', 'c', 'w', 'd', 'v', 'u'].includes(key) && $(`[data-key="${key}"]`));
    if (!found) return false;
    found.click();
    return true;
  }
  let prefix = 0;
  document.addEventListener('keydown', event => {
    const at = event.target;
    const writes = at.matches?.('input:not([type=checkbox]),textarea,select,[contenteditable]');
    if (event.key.toLowerCase() === 'k' && (event.ctrlKey || event.metaKey)) {
      event.preventDefault();
      $('#palette')?.showPopover();
      $('#jump')?.select();
      return;
    }
    if (event.key === 'Enter' && (event.ctrlKey || event.metaKey) && at.form) {
      event.preventDefault();
      at.form.requestSubmit();
      return;
    }
    if (event.key === 'Escape' && writes) {
      const cancel = at.closest('#edit,#new')?.querySelector('[data-cancel]');
      if (cancel) cancel.click(); else at.blur();
      return;
    }
    if (at.closest?.('#palette')) return paletteKey(event);
    if (writes || event.ctrlKey || event.metaKey || event.altKey || !letters) return;
    const key = event.key;
    if (prefix && Date.now() - prefix < 1500) {
      prefix = 0;
      const link = $(`#nav a[data-go="${CSS.escape(key)}"]`);
      if (link) { event.preventDefault(); link.click(); }
      return;
    }
    if (key === 'g') { prefix = Date.now(); return; }
    if (key === '/') { event.preventDefault(); $('#q')?.focus(); $('#q')?.select(); return; }
    if (key === '?') { $('#keys')?.showPopover(); return; }
    if (key === 'j' || key === 'k') { event.preventDefault(); go(key === 'j' ? 1 : -1); return; }
    if (key === 'Enter') {
      if (at.matches('a,button,summary')) return;
      const open = current() && ($('[data-open]', current()) || $('a[href]', current()));
      if (open) { event.preventDefault(); open.click(); }
      return;
    }
    if (key === 'Escape') { $('[data-close]')?.click(); return; }
    const steps = key === 'ArrowLeft' || key === 'ArrowRight';
    if ((key.length === 1 || steps) && press(key)) event.preventDefault();
  });
  function paletteKey(event) {
    const links = all('#jumps a');
    const at = links.findIndex(link => link.classList.contains('on'));
    const step = {ArrowDown: 1, ArrowUp: -1}[event.key];
    if (step && links.length) {
      event.preventDefault();
      links[at]?.classList.remove('on');
      const next = links[(at + step + links.length) % links.length];
      next.classList.add('on');
      next.scrollIntoView({block: 'nearest'});
    } else if (event.key === 'Enter' && links.length) {
      event.preventDefault();
      (links[at] || links[0]).click();
    }
  }
  // ---------- copying, and the selection of all rows: buttons are shown only with this script ----------
  async function copy(text, source) {
    try {
      await navigator.clipboard.writeText(text);
      showToast('Copied.');
    } catch {
      if (source?.select) source.select(); else if (source) getSelection().selectAllChildren(source);
      showToast(source ? 'Selected; press Ctrl C to copy.' : 'The browser does not allow copying.');
    }
  }
  document.addEventListener('click', async event => {
    const button = event.target.closest?.('[data-copy]');
    const source = button && document.getElementById(button.dataset.copy);
    if (source) return copy(source.value ?? source.textContent, source);
    const image = event.target.closest?.('[data-copy-image]');
    if (image) {
      event.preventDefault();
      copy(await (await fetch(image.href)).text());
    }
    const every = event.target.closest?.('[data-select-all]');
    if (every) all('input[type=checkbox][form]').forEach(box => { box.checked = every.checked; });
  });
  function showCopyButtons() {
    all('[data-copy][hidden]').forEach(button => { button.hidden = false; });
    all('.empty pre:not([data-copies])').forEach(pre => {
      pre.dataset.copies = '';
      const words = pre.textContent;
      const button = document.createElement('button');
      button.type = 'button';
      button.className = 'quiet small';
      button.textContent = 'Copy';
      button.addEventListener('click', () => copy(words, pre));
      pre.append(button);
    });
  }
  showCopyButtons();
  document.addEventListener('htmx:afterSettle', showCopyButtons);

  // ---------- the row that replaces the current row stays current ----------
  let replaced;
  document.addEventListener('htmx:beforeSwap', event => {
    const row = event.detail.target;
    if (!row.matches?.('.list > li')) return;
    const rows = all(':scope > li', row.parentElement);
    const isCurrent = row.matches('[aria-current],.on');
    replaced = isCurrent ? {list: row.parentElement, at: rows.indexOf(row), focus: row.contains(document.activeElement)} : null;
  });
  document.addEventListener('htmx:afterSettle', () => {
    const row = replaced && replaced.list.isConnected && replaced.list.children[replaced.at];
    if (row && !row.matches('.on')) {
      row.setAttribute('aria-current', 'true');
      if (replaced.focus && document.activeElement === document.body) $('a,button', row)?.focus({preventScroll: true});
    }
    replaced = null;
  });

  // ---------- panel of an entry: the focus moves in and back ----------
  document.addEventListener('htmx:afterSettle', event => {
    const panel = event.detail.elt;
    if (panel.id !== 'history') return;
    if (panel.hidden) $('[data-open]', current() || document.createElement('li'))?.focus({preventScroll: true});
    else $('h2', panel)?.focus({preventScroll: true});
    // On a narrow screen the panel covers the lower part: keep the entry above it.
    const covered = !panel.hidden && current() && getComputedStyle(panel).position === 'fixed'
      ? current().getBoundingClientRect().bottom - panel.getBoundingClientRect().top : 0;
    if (covered > 0) scrollBy(0, covered + 8);
  });

  // ---------- unsaved text: kept per path in this tab, and offered again ----------
  const drafts = () => all('form[data-draft]');
  const fieldsOf = form => all('textarea,input:not([type=hidden]),select', form);
  const isDirty = form => fieldsOf(form).some(field => !field.matches('select') && field.value !== field.defaultValue);
  const keyOf = path => `draft ${path}`;
  const stored = {
    get: key => { try { return JSON.parse(sessionStorage.getItem(key)); } catch { return null; } },
    set: (key, value) => { try { sessionStorage.setItem(key, JSON.stringify(value)); } catch { /* storage is full or off */ } },
    remove: key => { try { sessionStorage.removeItem(key); } catch { /* storage is off */ } },
  };
  let leaves = false;
  document.addEventListener('input', event => {
    const form = event.target.closest?.('form[data-draft]');
    if (!form) return;
    const key = keyOf(form.getAttribute('action'));
    if (isDirty(form)) stored.set(key, Object.fromEntries(fieldsOf(form).map(field => [field.name, field.value])));
    else stored.remove(key);
  });
  document.addEventListener('submit', event => {
    const form = event.target;
    const path = form.dataset.saves ?? (form.matches('[data-draft]') ? form.getAttribute('action') : null);
    if (path === null || event.submitter?.hasAttribute('formaction')) return;
    if (!form.hasAttribute('hx-post')) leaves = true;
    stored.set('draft sent', path);
  });
  function removeSavedDraft() {
    const path = stored.get('draft sent');
    stored.remove('draft sent');
    if (path) stored.remove(keyOf(path));
  }
  document.addEventListener('htmx:afterRequest', event => {
    // The saved form may be gone from the page; the request still names it.
    if (event.detail.requestConfig?.elt.matches?.('form[data-draft]') && event.detail.successful) removeSavedDraft();
  });
  if (wasDone) removeSavedDraft();
  function offerDrafts() {
    drafts().forEach(form => {
      const key = keyOf(form.getAttribute('action'));
      const draft = stored.get(key);
      if (!draft || isDirty(form) || $('.draft', form)) return;
      const fields = fieldsOf(form).filter(field => field.name in draft);
      if (fields.every(field => field.value === draft[field.name])) return;
      const offer = document.createElement('div');
      offer.className = 'draft';
      offer.append('There is unsaved text from before.');
      const add = (words, act) => {
        const button = document.createElement('button');
        button.type = 'button';
        button.textContent = words;
        button.addEventListener('click', () => { act(); offer.remove(); $('textarea', form)?.focus(); });
        offer.append(button);
      };
      add('Continue with it', () => fields.forEach(field => {
        field.value = draft[field.name];
        field.dispatchEvent(new Event('input', {bubbles: true}));
      }));
      add('Discard it', () => stored.remove(key));
      form.prepend(offer);
    });
  }
  offerDrafts();
  document.addEventListener('htmx:afterSettle', offerDrafts);
  // Cancel keeps the draft, so it needs no question.
  document.addEventListener('click', event => { if (event.target.closest?.('[data-cancel]')) leaves = true; });
  addEventListener('pageshow', () => { leaves = false; });
  addEventListener('beforeunload', event => {
    if (!leaves && drafts().some(isDirty)) event.preventDefault();
  });

  // A clicked row becomes the current row for shortcuts.
  document.addEventListener('click', event => {
    const row = event.target.closest?.('.list > li');
    if (row && !row.hasAttribute('aria-current')) {
      all('.list > li[aria-current]').forEach(one => one.removeAttribute('aria-current'));
      row.setAttribute('aria-current', 'true');
    }
  });
})();
