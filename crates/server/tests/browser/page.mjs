// Test of the page in a real browser: node page.mjs LINK SHOTS_FOLDER [CHROMIUM]
// LINK is a one-time login link. Writes a screenshot of each page; fails with the list of findings.
import {createRequire} from 'node:module';
import {collectErrors} from './page_errors.mjs';
import {mkdirSync} from 'node:fs';
const require = createRequire(process.env.PAGE_PACKAGES + '/');
const {chromium} = require('playwright-core');
const {AxeBuilder} = require('@axe-core/playwright');

const [link, folder, executablePath = '/usr/bin/chromium'] = process.argv.slice(2);
const base = new URL(link).origin;
mkdirSync(folder, {recursive: true});
const found = [];
let checks = 0;
function check(is, what) {
  checks += 1;
  if (!is) { found.push(what); console.log('NOT: ' + what); }
}

const browser = await chromium.launch({executablePath, args: ['--no-sandbox']});
const entry = await browser.newContext();
const first = await entry.newPage();
await first.goto(link);
const storageState = await entry.storageState();
check(storageState.cookies.length === 1, 'the link logs in');
const again = await browser.newContext();
const stranger = await again.newPage();
const refused = await stranger.goto(link);
check(refused.status() === 401, 'the link works once');
check((await stranger.goto(base + '/knowledge')).status() === 401, 'pages require a login');
await again.close();

async function open(options = {}) {
  const context = await browser.newContext({storageState, viewport: {width: 1280, height: 900}, ...options});
  const page = await context.newPage();
  return {context, page, errors: await collectErrors(page)};
}
async function href(page, at, pattern) {
  await page.goto(base + at);
  return page.evaluate(pattern => [...document.querySelectorAll('#main a')].map(a => a.getAttribute('href')).find(h => new RegExp(pattern).test(h)), pattern);
}
const one = {
  knowledge: await href(first, '/knowledge', '^/knowledge/[0-9a-f-]{36}$'),
  task: '/tasks/214',
  receipt: await href(first, '/receipts', '^/receipts/[0-9a-f-]+$'),
  session: await href(first, '/sessions', '^/sessions/claude-code'),
};
const pages = [
  ['overview', '/'], ['recall', '/recall?q=webhook+delivered+twice'], ['recall-blank', '/recall'], ['recall-none', '/recall?q=zzyzx+kind:error'],
  ['knowledge', '/knowledge'], ['history', one.knowledge], ['edit', one.knowledge + '?edit=1'], ['new', '/knowledge?new=1'], ['nothing-fits', '/knowledge?f=zzyzx'],
  ['tasks', '/tasks'], ['task', one.task + '?approach=advisory+lock'], ['errors', '/errors'], ['workspace', '/workspace'], ['groups', '/groups'],
  ['receipts', '/receipts'], ['receipt', one.receipt], ['again', one.receipt + '?again=1'], ['previous', one.receipt + '?previous=1'], ['sent', one.receipt + '?text=1'], ['sessions', '/sessions'], ['session', one.session],
  ['analytics', '/analytics'], ['inbox', '/inbox'], ['activity', '/activity'], ['lesson', '/?lesson=x'], ['marks', '/marks'], ['settings', '/settings'], ['tokens', '/settings/tokens'], ['agents', '/settings/agents'], ['start', '/settings/start'], ['health', '/settings/health'], ['hooks', '/settings/hooks'],
];

// ---------- every page: status, width, console, axe, layout shift; light and dark; four widths; with and without a script ----------
const looks = [
  [1440, 'light', true], [1440, 'dark', true], [820, 'light', true], [390, 'light', true], [360, 'dark', true], [1440, 'light', false], [360, 'light', false],
];
let mostShift = 0;
// Sums the shifts of the layout that no input of the user caused.
async function recordShifts(page) {
  await page.addInitScript(() => {
    window.shifts = 0;
    new PerformanceObserver(list => {
      for (const one of list.getEntries()) if (!one.hadRecentInput) window.shifts += one.value;
    }).observe({type: 'layout-shift', buffered: true});
  });
}
async function axe(page, look) {
  const {violations} = await new AxeBuilder({page}).analyze();
  const told = violations.map(one => `${one.id} at ${one.nodes.slice(0, 2).map(node => node.target.join(' ')).join(', ')}`);
  check(told.length === 0, `${look}: axe: ${told.join('; ')}`);
}
for (const [width, colorScheme, javaScriptEnabled] of process.env.PAGE_ONLY === 'flow' ? [] : looks) {
  const {context, page, errors} = await open({viewport: {width, height: 900}, colorScheme, javaScriptEnabled});
  if (javaScriptEnabled) await recordShifts(page);
  for (const [name, at] of pages) {
    const look = `${name} ${width} ${colorScheme}${javaScriptEnabled ? '' : ' without a script'}`;
    const response = await page.goto(base + at, {waitUntil: 'load'});
    check(response.status() === 200, `${look}: status ${response.status()}`);
    check((await page.locator('h1').innerText()).length > 8, `${look}: its headline is empty`);
    check(errors.length === 0, `${look}: ${errors.splice(0).join('; ')}`);
    if (javaScriptEnabled) {
      const over = await page.evaluate(() => document.documentElement.scrollWidth - innerWidth);
      check(over <= 0, `${look}: ${over} px too wide`);
      const shift = await page.evaluate(() => window.shifts);
      mostShift = Math.max(mostShift, shift);
      check(shift < 0.005, `${look}: its layout shifts by ${shift.toFixed(4)}`);
      await axe(page, look);
      await page.screenshot({path: `${folder}/${name}-${width}-${colorScheme}.png`});
    } else {
      const box = await page.locator('#main').boundingBox();
      check(box.x + box.width <= width + 1, `${look}: too wide`);
    }
  }
  await context.close();
}

// ---------- every page with the palette open ----------
for (const colorScheme of process.env.PAGE_ONLY === 'flow' ? [] : ['light', 'dark']) {
  const {context, page} = await open({viewport: {width: 1440, height: 900}, colorScheme});
  for (const [name, at] of pages) {
    await page.goto(base + at, {waitUntil: 'load'});
    // Without a focus in a field; Escape would close the panel of an entry, which loads another page.
    await page.evaluate(() => document.activeElement.blur());
    await page.keyboard.press('Control+k');
    await page.locator('#jump').waitFor();
    await axe(page, `${name} ${colorScheme} with the palette`);
  }
  await context.close();
}

// ---------- slow network: 400 ms a request, 50 kB/s ----------
{
  const {context, page, errors} = await open();
  const network = await context.newCDPSession(page);
  await network.send('Network.enable');
  await network.send('Network.emulateNetworkConditions', {offline: false, latency: 400, downloadThroughput: 50_000, uploadThroughput: 20_000});
  await recordShifts(page);
  for (const [name, at] of pages.filter(([name]) => ['overview', 'knowledge', 'recall', 'receipt', 'inbox'].includes(name))) {
    const from = Date.now();
    await page.goto(base + at, {waitUntil: 'load'});
    check(Date.now() - from < 8000, `${name} on a slow network: ${Date.now() - from} ms`);
    check(await page.evaluate(() => window.shifts) < 0.005, `${name} on a slow network: its layout shifts`);
  }
  await page.goto(base + '/knowledge');
  await page.locator('#list li', {hasText: 'error-type'}).first().getByRole('link', {name: /^Edit/}).click();
  await page.waitForSelector('#edit textarea');
  await page.fill('#ev', 'Typed on a slow network');
  // A second press while the first request is under way must not save twice.
  await page.keyboard.press('Control+Enter');
  await page.keyboard.press('Control+Enter');
  await page.locator('#list li', {hasText: 'Typed on a slow network'}).first().waitFor();
  await page.keyboard.press('u');
  await page.waitForFunction(() => /Undone/.test(document.querySelector('#toast')?.textContent || ''));
  await page.waitForTimeout(1500);
  check(await page.locator('#list li', {hasText: 'Typed on a slow network'}).count() === 0, 'one undo reverts an edit on a slow network');
  check(errors.length === 0, 'slow network: ' + errors.join('; '));
  await context.close();
}

// ---------- headers ----------
{
  const response = await first.goto(base + '/');
  const policy = response.headers()['content-security-policy'] || '';
  check(policy.includes("default-src 'none'") && policy.includes("script-src 'self'") && !policy.includes('unsafe'), 'the policy lets something in: ' + policy);
  const inline = await first.evaluate(() => document.querySelectorAll('[style],script:not([src]),style').length);
  check(inline === 0, `${inline} inline styles or scripts are in the page`);
}

// ---------- interactions with scripts ----------
const {page, errors} = await open();
const toast = () => page.locator('#toast .toast span').first();
const row = key => page.locator('#list li', {hasText: key}).first();
async function undo() {
  await page.keyboard.press('u');
  await page.waitForFunction(() => /Undone/.test(document.querySelector('#toast')?.textContent || ''));
  await page.waitForTimeout(300);
}
await page.goto(base + '/knowledge');
await row('error-type').getByRole('link', {name: /^Edit/}).click();
await page.waitForSelector('#edit textarea');
check(await page.evaluate(() => document.activeElement?.id === 'ev'), 'the field has the focus');
await page.fill('#ev', 'Handlers return `ApiError`. Edited by hand <b>x</b>');
await page.keyboard.press('Control+Enter');
await row('Edited by hand').waitFor();
check(/Saved/.test(await toast().innerText()), 'saving shows a toast');
check(await page.locator('#list b').count() === 0, 'entry text is escaped');
await undo();
check(await row('Edited by hand').count() === 0, 'an edit is undone');
check(await row('Result<Json<T>, ApiError>').count() === 1, 'the text before is back');

await page.goto(base + '/knowledge');
await row('no-orm').click({position: {x: 4, y: 4}});
await page.keyboard.press('p');
await row('no-orm').locator('.chip', {hasText: 'pinned'}).waitFor();
await undo();
check(await row('no-orm').locator('.chip').count() === 0, 'a pin is undone');
await row('no-orm').click({position: {x: 4, y: 4}});
await page.keyboard.press('m');
await row('no-orm').locator('.chip', {hasText: 'muted'}).waitFor();
await undo();
await row('no-orm').click({position: {x: 4, y: 4}});
await page.keyboard.press('x');
await page.locator('#list li.gone', {hasText: 'no-orm'}).waitFor();
check(await page.locator('#list li.gone').count() === 1, 'a retired row stays as a line');
await undo();
check(await row('no-orm').locator('.meta').count() >= 1, 'a retired entry is restored');

await page.keyboard.press('n');
await page.fill('#nt', 'Said on the page by a test');
await page.fill('#nk', 'said-on-the-page');
await page.getByRole('button', {name: /^Remember/}).click();
await row('said-on-the-page').waitFor();
check(!/done=/.test(page.url()), 'the URL does not keep the last change');
await undo();
check(await row('said-on-the-page').count() === 0, 'a new entry is undone');

await page.goto(base + '/knowledge');
const conflicted = await page.locator('#conflict h2 .key').innerText();
await page.keyboard.press('2');
await page.waitForFunction(was => document.querySelector('#conflict h2 .key')?.textContent !== was, conflicted);
await undo();
check(await page.locator('#conflict h2 .key').innerText() === conflicted, 'a decision is undone');

await page.fill('#f', 'pgbouncer');
await page.waitForURL(/f=pgbouncer/);
await page.waitForFunction(() => document.querySelectorAll('#list li').length < 12);
check(await page.evaluate(() => document.activeElement?.id === 'f'), 'the filter keeps the focus');

// The page reloads while the user types.
await page.goto(base + '/knowledge');
let release;
const held = new Promise(done => { release = done; });
await page.route('**/knowledge', async route => { await held; await route.continue(); }, {times: 1});
await page.evaluate(() => { document.dispatchEvent(new Event('heirloom:changed')); });
await page.fill('#f', 'pgbouncer');
release();
await page.waitForURL(/f=pgbouncer/);
check(await page.locator('#f').inputValue() === 'pgbouncer', 'typed text survives a reload of the page');

await page.goto(base + '/inbox');
const stale = page.locator('li[data-id]', {hasText: 'no longer in the project'}).first();
if (await stale.count()) {
  const name = await stale.locator('.key').innerText();
  await stale.getByRole('button', {name: /^Still true/}).click();
  await page.locator('li.gone', {hasText: name}).waitFor();
  await undo();
  check(await page.locator('li[data-id]', {hasText: name}).count() === 1, 'a kept entry can be reviewed again');
} else check(false, 'nothing is stale in the week');

await page.goto(base + '/errors');
const error = page.locator('#main li[data-id]').first();
await error.getByLabel('What helped').fill('a test resolved it');
await error.getByRole('button', {name: 'Resolve'}).click();
await page.locator('#main li.gone').waitFor();
await undo();
check(await page.locator('#main li.gone').count() === 0, 'a resolved error is open again');

await page.goto(base + '/tasks/214');
await page.getByRole('button', {name: 'Reopen'}).click();
await page.getByRole('button', {name: 'Mark done'}).waitFor();
await undo();
await page.getByRole('button', {name: 'Reopen'}).waitFor();

await page.goto(base + '/workspace');
const before = await page.locator('#ft').inputValue();
await page.locator('#ft').fill(before + '- from a test <i>\n');
await page.waitForFunction(() => /from a test <i>/.test(document.querySelector('#preview')?.textContent || ''));
await page.getByRole('button', {name: /^Save/}).click();
await page.waitForFunction(() => /Saved/.test(document.querySelector('#toast')?.textContent || ''));
await undo();
check(await page.locator('#ft').inputValue() === before, 'a saved file is undone');

await page.goto(base + '/recall?q=webhook');
await page.keyboard.press('/');
check(await page.evaluate(() => document.activeElement?.id === 'q'), '/ focuses the search field');
await page.keyboard.press('Escape');
await page.keyboard.press('Control+k');
await page.fill('#jump', 'analyt');
await page.waitForFunction(() => /Analytics/.test(document.querySelector('#jumps li')?.textContent || ''));
await page.keyboard.press('Enter');
await page.waitForURL(/analytics/);
await page.keyboard.press('g');
await page.keyboard.press('k');
await page.waitForURL(/knowledge/);
await page.keyboard.press('j');
await page.keyboard.press('j');
check(await page.locator('.list > li[aria-current]').count() === 1, 'one row is the current one');
await page.keyboard.press('?');
check(await page.locator('#keys').isVisible(), '? shows the keys');
await page.keyboard.press('Escape');

// ---------- two tabs, live ----------
{
  const other = await open();
  await other.page.goto(base + '/knowledge');
  await other.page.waitForFunction(() => document.querySelector('#live') && !document.querySelector('#live').hidden);
  await page.goto(base + '/knowledge?new=1');
  await page.fill('#nt', 'Told to another tab');
  await page.fill('#nk', 'told-to-another-tab');
  await page.getByRole('button', {name: /^Remember/}).click();
  await other.page.locator('#list li', {hasText: 'told-to-another-tab'}).first().waitFor({timeout: 20000});
  // Typing is not interrupted; the badge shows that there are changes.
  await other.page.locator('#list li', {hasText: 'no-orm'}).first().getByRole('link', {name: /^Edit/}).click();
  await other.page.waitForSelector('#edit textarea');
  await undo();
  await other.page.waitForFunction(() => /new/.test(document.querySelector('#live')?.textContent || ''), null, {timeout: 20000});
  check(await other.page.locator('#edit textarea').count() === 1, 'editing is not interrupted');
  check(other.errors.length === 0, 'the other tab: ' + other.errors.join('; '));

  // Both tabs edit the same entry: the second one must choose.
  await other.page.goto(base + '/knowledge');
  const edit = tab => tab.locator('#list li', {hasText: 'error-messages'}).first().getByRole('link', {name: /^Edit/}).click();
  await page.goto(base + '/knowledge');
  await edit(page);
  await page.waitForSelector('#edit textarea');
  await edit(other.page);
  await other.page.waitForSelector('#edit textarea');
  await other.page.fill('#ev', 'Messages: the first tab says this.');
  await other.page.keyboard.press('Control+Enter');
  await other.page.locator('#list li', {hasText: 'the first tab says this'}).first().waitFor();
  await page.fill('#ev', 'Messages: the second tab says that.');
  await page.keyboard.press('Control+Enter');
  await page.locator('.choice', {hasText: 'the first tab says this'}).waitFor();
  errors.splice(0);
  await page.getByRole('button', {name: 'Save mine over it'}).click();
  await page.locator('#list li', {hasText: 'the second tab says that'}).first().waitFor();
  await undo();
  check(await page.locator('#list li', {hasText: 'the first tab says this'}).count() === 1, 'an overwritten version is restored');
  await other.context.close();
}
check(errors.length === 0, 'console: ' + errors.join('; '));

// ---------- interactions without scripts ----------
{
  const plain = await open({javaScriptEnabled: false});
  const at = plain.page;
  await at.goto(base + one.knowledge + '?edit=1');
  const said = await at.locator('#ev').inputValue();
  await at.fill('#ev', said + ' Said without a script.');
  await at.getByRole('button', {name: /^Save/}).click();
  check(await at.locator('#list li', {hasText: 'Said without a script'}).count() === 1, 'a form saves without a script');
  await at.locator('#toast button').click();
  check(await at.locator('#list li', {hasText: 'Said without a script'}).count() === 0, 'and is undone');
  await at.goto(base + '/settings');
  await at.getByRole('button', {name: 'Dark'}).click();
  check(await at.locator('html[data-theme=dark]').count() === 1, 'dark is remembered');
  await at.getByRole('button', {name: 'System'}).click();
  await at.goto(base + '/recall');
  await at.fill('#rq', 'webhook');
  await at.keyboard.press('Enter');
  await at.waitForURL(/q=webhook/);
  check(await at.locator('#hits > li').count() > 0, 'recall answers without a script');
  await plain.context.close();
}
await browser.close();
console.log(`${checks} checks, ${found.length} found; largest layout shift ${mostShift.toFixed(4)}`);
process.exit(found.length ? 1 : 0);
