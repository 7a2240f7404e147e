// Test of the knowledge page and of unsaved text in a real browser: node knowledge.mjs LINK [CHROMIUM]
// LINK is a one-time login link of the demo memory. Fails with the list of findings.
import {createRequire} from 'node:module';
import {collectErrors, isPolicyError} from './page_errors.mjs';
const require = createRequire(process.env.PAGE_PACKAGES + '/');
const {chromium} = require('playwright-core');
const {AxeBuilder} = require('@axe-core/playwright');

const [link, executablePath = '/usr/bin/chromium'] = process.argv.slice(2);
const base = new URL(link).origin;
const found = [];
let checks = 0;
function check(is, what) {
  checks += 1;
  if (!is) { found.push(what); console.log('NOT: ' + what); }
}
const browser = await chromium.launch({executablePath, args: ['--no-sandbox']});
const entry = await browser.newContext();
await (await entry.newPage()).goto(link);
const storageState = await entry.storageState();
const collected = [];
async function open(options = {}) {
  const context = await browser.newContext({viewport: {width: 1440, height: 900}, storageState, ...options});
  const page = await context.newPage();
  page.on('pageerror', error => check(false, 'script error: ' + error.message));
  collected.push(await collectErrors(page));
  return page;
}
async function audit(page, what) {
  const result = await new AxeBuilder({page}).analyze();
  for (const one of result.violations) check(false, `${what}: ${one.id} ${one.nodes[0].target}`);
  const over = await page.evaluate(() => document.documentElement.scrollWidth - innerWidth);
  check(over <= 0, `${what}: ${over} px of sideways scroll`);
}

const page = await open();
let questions = 0;
page.on('dialog', async dialog => { questions += 1; await dialog.accept(); });
const row = key => page.locator('#list li', {hasText: key}).first();
const current = () => page.evaluate(() => {
  const rows = [...document.querySelectorAll('.list > li[aria-current]')];
  return rows.map(one => one.innerText.split('\n')[0].trim()).join('|');
});
async function undo() {
  await page.keyboard.press('u');
  await page.waitForFunction(() => /Undone/.test(document.querySelector('#toast')?.textContent || ''));
  await page.waitForTimeout(400);
}

// ---------- the current row survives its actions ----------
await page.goto(base + '/knowledge');
await row('no-orm').click({position: {x: 300, y: 4}});
for (const [key, chip] of [['p', 'pinned'], ['m', 'muted']]) {
  await page.keyboard.press(key);
  await row('no-orm').locator('.chip', {hasText: chip}).waitFor();
  await page.waitForTimeout(200);
  check(await current() === 'no-orm', `the row is current after ${key}: ${await current()}`);
}
await undo();
check(await current() === 'no-orm', 'the row is current after an undo');
await page.keyboard.press('p');
await page.waitForTimeout(400);
const after = await page.evaluate(() => document.querySelector('.list > li[aria-current]').nextElementSibling.querySelector('.key').innerText);
await page.keyboard.press('x');
await page.locator('#list li.gone', {hasText: 'no-orm'}).waitFor();
await page.waitForTimeout(200);
await page.keyboard.press('j');
check(await current() === after, `j continues after a retired row: ${await current()}`);
await undo();

// ---------- selection ----------
await page.keyboard.press('s');
await page.keyboard.press('j');
await page.keyboard.press('s');
check(await page.locator('.tick:checked').count() === 2, 's selects the current row');
await page.locator('.bulk').getByRole('button', {name: 'Retire'}).click();
await page.waitForFunction(() => /2 entries/.test(document.querySelector('#toast').textContent));
await page.waitForTimeout(400);
await undo();
await page.getByRole('link', {name: 'Select all on this page'}).click();
await page.waitForFunction(() => document.querySelectorAll('.tick').length === document.querySelectorAll('.tick:checked').length);
await audit(page, 'selected entries');

// ---------- panel ----------
await page.goto(base + '/knowledge?sort=key');
const opened = page.locator('.list > li [data-open]').nth(12);
await opened.scrollIntoViewIfNeeded();
await opened.evaluate(link => link.scrollIntoView({block: 'center'}));
const top = await page.evaluate(() => scrollY);
await opened.click();
await page.waitForSelector('#history h2');
await page.waitForTimeout(300);
check(await page.evaluate(() => scrollY > 0), 'the place is kept when a panel opens');
check(/\/knowledge\/[0-9a-f-]+\?sort=key/.test(page.url()), 'the URL names the entry and keeps the filters');
check(await page.evaluate(() => document.activeElement.id === 'hh'), 'the focus moves into the panel');
await audit(page, 'panel');
await page.keyboard.press('Escape');
await page.waitForFunction(() => document.querySelector('#history').hidden);
await page.waitForTimeout(300);
check(await page.evaluate(() => document.activeElement.matches('[data-open]')), 'the focus moves back to the row');
check(Math.abs(await page.evaluate(() => scrollY) - top) < 60, 'the place is kept when the panel closes');

// ---------- filters ----------
await page.selectOption('#fo', {index: 1});
await page.waitForURL(/\/knowledge\?source=[^&]+&sort=key$/);
await page.fill('#f', 'logs');
await page.waitForURL(/f=logs/);
check(await page.evaluate(() => document.activeElement.id === 'f'), 'the filter keeps the focus');
check(await page.locator('.chips .chip').count() === 2, 'each filter is a chip');

// ---------- unsaved text ----------
await page.goto(base + '/knowledge?new=1');
await page.fill('#nt', 'half an entry');
await page.goto(base + '/tasks');
check(questions === 1, 'leaving with unsaved text asks');
await page.goto(base + '/knowledge?new=1');
await page.getByRole('button', {name: 'Continue with it'}).click();
check(await page.locator('#nt').inputValue() === 'half an entry', 'a draft is offered again');
await page.getByRole('button', {name: /^Remember/}).click();
await row('half an entry').waitFor();
await undo();
const edit = () => row('error-type').getByRole('link', {name: /^Edit/}).click();
await page.goto(base + '/knowledge');
await edit();
await page.waitForSelector('#ev');
await page.fill('#ev', 'half an edit');
await page.keyboard.press('Escape');
await row('error-type').getByRole('link', {name: /^Edit/}).waitFor();
await edit();
await page.getByRole('button', {name: 'Continue with it'}).click();
check(await page.locator('#ev').inputValue() === 'half an edit', 'a cancelled edit is offered again');
await page.keyboard.press('Control+Enter');
await row('half an edit').waitFor();
await undo();
await page.goto(base + '/workspace');
const text = await page.locator('#ft').inputValue();
await page.locator('#ft').fill(text + '- half a line\n');
await page.goto(base + '/workspace');
await page.getByRole('button', {name: 'Discard it'}).click();
check(await page.locator('#ft').inputValue() === text, 'a discarded draft changes nothing');
const left = await page.evaluate(() => Object.keys(sessionStorage).filter(key => key.startsWith('draft')).join());
check(left === '', 'no draft is left: ' + left);

// ---------- phone, and without scripts ----------
const phone = await open({viewport: {width: 360, height: 780}, hasTouch: true, isMobile: true});
await phone.goto(base + '/knowledge');
await audit(phone, 'phone');
await phone.locator('.list > li [data-open]').nth(3).click();
await phone.waitForSelector('#history h2');
await phone.waitForTimeout(400);
const covers = await phone.evaluate(() => {
  const row = document.querySelector('.list > li[aria-current]').getBoundingClientRect();
  const panel = document.querySelector('#history').getBoundingClientRect();
  return panel.top < innerHeight && panel.bottom >= innerHeight - 1 && row.bottom <= panel.top + 1;
});
check(covers, 'the sheet is visible and does not cover its row');
await audit(phone, 'sheet');
const plain = await open({javaScriptEnabled: false});
await plain.goto(base + '/knowledge?sort=key');
const muted = () => plain.locator('#list .chip', {hasText: 'muted'}).count();
const before = await muted();
await plain.locator('.tick').nth(0).check();
await plain.locator('.tick').nth(1).check();
await plain.locator('.bulk').getByRole('button', {name: 'Mute'}).click();
check(/sort=key/.test(plain.url()) && await muted() === before + 2, 'selected entries are muted without a script');
await plain.locator('#toast button').click();
check(await muted() === before, 'and the change is undone at once');
await plain.selectOption('#fs', 'pinned');
await plain.getByRole('button', {name: 'Filter'}).click();
check(/state=pinned/.test(plain.url()), 'the filter works without a script');
check(!collected.flat().some(isPolicyError), 'console: ' + collected.flat().filter(isPolicyError).join('; '));
await browser.close();
console.log(`${checks} checks, ${found.length} found`);
process.exit(found.length ? 1 : 0);
