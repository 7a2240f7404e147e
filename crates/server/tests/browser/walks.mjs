// Tasks of users in a real browser, each with its number of steps: node walks.mjs LINK [BROWSER]
// A step is a click, a key, or a typed text. Prints the steps of each task; fails if a task needs more than its limit.
import {createRequire} from 'node:module';
import {collectErrors, isPolicyError} from './page_errors.mjs';
const require = createRequire(process.env.PAGE_PACKAGES + '/');
const {chromium, firefox} = require('playwright-core');

const [link, executablePath = '/usr/bin/chromium'] = process.argv.slice(2);
const base = new URL(link).origin;
const type = /firefox/.test(executablePath) ? firefox : chromium;
const browser = await type.launch({executablePath, args: type === chromium ? ['--no-sandbox'] : []});
const context = await browser.newContext({viewport: {width: 1440, height: 900}});
const page = await context.newPage();
const errors = await collectErrors(page);
await page.goto(link);
const failed = [];
let steps = 0;
const click = async what => { steps += 1; await (typeof what === 'string' ? page.locator(what).first() : what).click(); };
const press = async key => { steps += 1; await page.keyboard.press(key); };
const fill = async (what, text) => { steps += 1; await page.locator(what).first().fill(text); };
const toast = pattern => page.waitForFunction(source => new RegExp(source).test(document.querySelector('#toast')?.textContent || ''), pattern);
async function walk(name, limit, at, task) {
  steps = 0;
  try {
    await page.goto(base + at);
    await task();
    const is = steps <= limit;
    console.log(`${is ? 'ok ' : 'NOT'} ${name}: ${steps} of ${limit} steps`);
    if (!is) failed.push(name);
  } catch (error) {
    failed.push(name);
    console.log(`NOT ${name}: ${String(error).split('\n')[0]}`);
  }
}

await walk('which database port do the tests use', 3, '/', async () => {
  await press('/');
  await fill('#q', 'test port postgresql');
  await press('Enter');
  const first = page.locator('#hits > li').first();
  await first.waitFor();
  if (!/test-db-port/.test(await first.innerText())) throw new Error('the first hit is another entry');
  if (!/disputed|conflict/i.test(await first.innerText())) throw new Error('the conflict is not marked');
});
await walk('correct an entry and undo it', 4, '/knowledge', async () => {
  await click(page.locator('#list li', {hasText: 'no-orm'}).first().getByRole('link', {name: /^Edit/}));
  await fill('#ev', 'Queries are SQL by hand.');
  await press('Control+Enter');
  await toast('Saved');
  await press('u');
  await toast('Undone');
});
await walk('history of an entry without losing the place', 1, '/knowledge', async () => {
  const row = page.locator('#list li').last();
  await row.locator('a.key, a[data-open]').first().hover();
  await click(row.locator('a.key, a[data-open]').first());
  await page.locator('aside .timeline, #history .timeline').first().waitFor();
  const box = await row.boundingBox();
  if (box.y < 0 || box.y > 900) throw new Error(`the entry is at ${box.y} px`);
});
await walk('resolve a conflict and undo it', 3, '/', async () => {
  await click(page.getByRole('link', {name: /conflicts?$/}).first());
  await click(page.locator('#conflicts button').first());
  await toast('Decided');
  await press('u');
  await toast('Undone');
});
await walk('accept a proposal and undo it', 3, '/', async () => {
  await click(page.getByRole('link', {name: /proposals?$/}).first());
  await click(page.locator('#proposals').getByRole('button', {name: /^Accept/}).first());
  await toast('Accepted');
  await press('u');
  await toast('Undone');
});
await walk('reject several records of the inbox and undo it', 4, '/inbox', async () => {
  await click(page.locator('#main li input[type=checkbox]').nth(0));
  await click(page.locator('#main li input[type=checkbox]').nth(1));
  await click(page.getByRole('button', {name: 'Reject or retire selected'}));
  await toast('Decided');
  await press('u');
  await toast('Undone');
});
await walk('pin an entry with a visible button and undo it', 2, '/knowledge', async () => {
  const row = page.locator('#list li', {hasText: 'no-orm'}).first();
  await row.hover();
  await click(row.getByRole('button', {name: /^Pin/}));
  await toast('Pinned');
  await press('u');
  await toast('Undone');
});
await walk('which failure came again', 1, '/', async () => {
  await click(page.locator('.lessons a', {hasText: 'came again'}).first());
  await page.getByText('It failed again').waitFor();
});
await walk('step through the lessons with the keys', 2, '/', async () => {
  await press('ArrowRight');
  await page.waitForURL(/lesson=/);
  const one = page.url();
  await press('ArrowRight');
  await page.waitForURL(url => String(url) !== one);
});
await walk('the exact line of a lesson in the text that was sent', 1, '/', async () => {
  await click(page.locator('#lesson a', {hasText: /^told/}).first());
  await page.locator('mark#sent').waitFor();
});
await walk('what did a context hold and what was cut', 3, '/receipts', async () => {
  await click(page.locator('#main .list li a').first());
  await page.waitForURL(/\/receipts\/[0-9a-f]/);
  await press('c');
  // The next page is opened when this one is there.
  await page.waitForURL(/show=cut/);
});
await walk('find a conversation', 2, '/sessions', async () => {
  await fill('#main input[type=search]', 'leaky bucket');
  await press('Enter');
  await page.locator('#main .list li', {hasText: /leaky bucket/i}).first().waitFor();
});
await walk('change a setting and undo it', 5, '/settings', async () => {
  await fill('#main input[type=search]', 'episodes_days');
  await click(page.getByRole('link', {name: /^Change retention.episodes_days/}));
  await fill('#s-retention-episodes_days input[type=number], #s-retention-episodes_days input[type=text]', '45');
  await press('Enter');
  await toast('is changed for');
  await page.waitForTimeout(400);
  await press('u');
  await toast('is as before');
});
await walk('create an access token', 2, '/settings/tokens', async () => {
  await fill('#main form input[type=text]', 'build server');
  await press('Enter');
  await page.waitForFunction(() => [...document.querySelectorAll('#main input,#main code,#main pre')].some(one => /^hl_[0-9a-f]{20}/.test(one.value || one.textContent)));
});
await walk('a page by keys after a search in the palette', 4, '/', async () => {
  await press('Control+k');
  await fill('#jump', 'zzz');
  await press('Escape');
  await page.evaluate(() => document.activeElement?.blur());
  await press('g');
  steps -= 1;
  await press('k');
  await page.waitForURL(/knowledge/);
});
await walk('the first entry by Tab alone', 6, '/knowledge', async () => {
  await press('Tab');
  await press('Enter');
  await press('Tab');
  await press('Enter');
  for (let n = 0; n < 20; n += 1) {
    await press('Tab');
    if (await page.evaluate(() => Boolean(document.activeElement?.closest('#list li')))) return;
  }
  throw new Error('the first entry is too far');
});
const violations = errors.filter(isPolicyError);
if (violations.length) { failed.push('console'); console.log('NOT: ' + violations.join('; ')); }
await browser.close();
console.log(failed.length ? `${failed.length} tasks failed` : 'all tasks within their steps');
process.exit(failed.length ? 1 : 0);
