// Test of the page in Firefox, driven by WebDriver BiDi: node firefox.mjs LINK [FIREFOX]
// LINK is a one-time login link. Opens every page in two looks, and makes and reverts an edit; fails with the list of findings.
import {createRequire} from 'node:module';
import {collectErrors} from './page_errors.mjs';
import {readFileSync} from 'node:fs';
const require = createRequire(process.env.PAGE_PACKAGES + '/');
const puppeteer = require('puppeteer-core');
const axeSource = readFileSync(require.resolve('axe-core/axe.min.js'), 'utf8');

const [link, executablePath = '/usr/bin/firefox-esr'] = process.argv.slice(2);
const base = new URL(link).origin;
const found = [];
let checks = 0;
function check(is, what) {
  checks += 1;
  if (!is) { found.push(what); console.log('NOT: ' + what); }
}

const browser = await puppeteer.launch({browser: 'firefox', executablePath, headless: true});
const page = await browser.newPage();
const errors = await collectErrors(page);
await page.goto(link);

async function href(at, pattern) {
  await page.goto(base + at);
  return page.evaluate(pattern => [...document.querySelectorAll('#main a')].map(a => a.getAttribute('href')).find(h => new RegExp(pattern).test(h)), pattern);
}
const one = {
  knowledge: await href('/knowledge', '^/knowledge/[0-9a-f-]{36}$'),
  receipt: await href('/receipts', '^/receipts/[0-9a-f-]+$'),
  session: await href('/sessions', '^/sessions/claude-code'),
};
const pages = [
  '/', '/recall?q=webhook+delivered+twice', '/recall', '/knowledge', one.knowledge, one.knowledge + '?edit=1', '/tasks', '/tasks/214', '/errors', '/workspace',
  '/groups', '/receipts', one.receipt, one.receipt + '?text=1', '/sessions', one.session, '/analytics', '/inbox', '/activity', '/settings', '/settings/tokens',
  '/settings/agents', '/settings/start', '/settings/health', '/settings/hooks',
];

for (const [width, theme] of [[1440, 'light'], [390, 'dark']]) {
  await page.setViewport({width, height: 900});
  for (const at of pages) {
    const look = `${at} ${width} ${theme}`;
    const response = await page.goto(base + at, {waitUntil: 'load'});
    await page.evaluate(theme => { document.documentElement.dataset.theme = theme; }, theme);
    check(response.status() === 200, `${look}: status ${response.status()}`);
    check(errors.length === 0, `${look}: ${errors.splice(0).join('; ')}`);
    const over = await page.evaluate(() => document.documentElement.scrollWidth - innerWidth);
    check(over <= 0, `${look}: ${over} px too wide`);
    await page.evaluate(axeSource);
    const told = await page.evaluate(async () => {
      const {violations} = await window.axe.run();
      return violations.map(one => `${one.id} at ${one.nodes.slice(0, 2).map(node => node.target.join(' ')).join(', ')}`);
    });
    check(told.length === 0, `${look}: axe: ${told.join('; ')}`);
  }
}

// ---------- an edit and its undo, the palette, the keys ----------
const has = text => page.waitForFunction(text => document.querySelector('#main').textContent.includes(text), {timeout: 20000}, text);
const lacks = text => page.waitForFunction(text => !document.querySelector('#main').textContent.includes(text), {timeout: 20000}, text);
await page.setViewport({width: 1280, height: 900});
await page.goto(base + one.knowledge + '?edit=1');
await page.waitForSelector('#ev');
await page.focus('#ev');
await page.keyboard.type('Typed in Firefox. ');
await page.keyboard.down('Control');
await page.keyboard.press('Enter');
await page.keyboard.up('Control');
await has('Typed in Firefox.');
await page.waitForFunction(() => /Saved/.test(document.querySelector('#toast')?.textContent || ''), {timeout: 20000});
await page.keyboard.press('u');
await lacks('Typed in Firefox.');
check(true, 'an edit is saved and undone');

await page.goto(base + '/');
await page.keyboard.down('Control');
await page.keyboard.press('k');
await page.keyboard.up('Control');
await page.waitForSelector('#jump', {visible: true});
await page.type('#jump', 'analyt');
await page.waitForFunction(() => /Analytics/.test(document.querySelector('#jumps li')?.textContent || ''), {timeout: 20000});
await page.keyboard.press('Enter');
await page.waitForFunction(() => location.pathname === '/analytics', {timeout: 20000});
check(errors.length === 0, 'console: ' + errors.join('; '));

await browser.close();
console.log(`firefox: ${checks} checks, ${found.length} found`);
process.exit(found.length ? 1 : 0);
