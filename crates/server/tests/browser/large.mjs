// Pages of a memory with 100,000 records in a real browser: node large.mjs LINK [CHROMIUM]
// Prints the time of each page; fails if a page has an error, is too wide, shifts, or does not find what it should.
import {createRequire} from 'node:module';
import {collectErrors} from './page_errors.mjs';
const require = createRequire(process.env.PAGE_PACKAGES + '/');
const {chromium} = require('playwright-core');

const [link, executablePath = '/usr/bin/chromium'] = process.argv.slice(2);
const base = new URL(link).origin;
const browser = await chromium.launch({executablePath, args: ['--no-sandbox']});
const context = await browser.newContext({viewport: {width: 1440, height: 900}});
const page = await context.newPage();
const errors = await collectErrors(page);
await page.addInitScript(() => {
  window.shifts = 0;
  new PerformanceObserver(list => {
    for (const one of list.getEntries()) if (!one.hadRecentInput) window.shifts += one.value;
  }).observe({type: 'layout-shift', buffered: true});
});
await page.goto(link);
const found = [];
let checks = 0;
function check(is, what) {
  checks += 1;
  if (!is) { found.push(what); console.log('NOT: ' + what); }
}
async function open(at) {
  const response = await page.goto(base + at, {waitUntil: 'load'});
  check(response.status() === 200, `${at}: status ${response.status()}`);
  check(errors.length === 0, `${at}: ${errors.splice(0).join('; ')}`);
  check(await page.evaluate(() => document.documentElement.scrollWidth <= innerWidth), `${at}: too wide`);
  check(await page.evaluate(() => window.shifts) < 0.005, `${at}: its layout shifts`);
  const [wait, load] = await page.evaluate(() => {
    const [one] = performance.getEntriesByType('navigation');
    return [one.responseStart - one.requestStart, one.loadEventStart];
  });
  console.log(`${at}: first byte after ${wait.toFixed(0)} ms, loaded after ${load.toFixed(0)} ms`);
}

for (const at of ['/', '/knowledge', '/knowledge?category=decision&sort=newest', '/knowledge?f=large-99999', '/recall?q=worker+number+77777', '/tasks',
  '/sessions', '/receipts', '/errors', '/inbox', '/activity', '/analytics', '/marks', '/groups', '/settings/health']) {
  await open(at);
}
await page.goto(base + '/settings/health');
await page.getByRole('button', {name: 'Check again'}).click();
await page.waitForFunction(() => /Last run/.test(document.body.innerText) && !/checks are running/.test(document.body.innerText));
check(/All checks passed|with warnings/.test(await page.locator('h1').innerText()), 'the checks of the large memory pass');
await open('/settings/health');
await open('/knowledge');
check(/100,\d{3}/.test(await page.locator('h1').innerText()), 'the headline counts all entries');
const first = await page.locator('#list .list > li').first().getAttribute('data-id');
await page.getByRole('link', {name: /^Older/}).click();
await page.waitForURL(/\?/);
check(await page.locator('#list .list > li').first().getAttribute('data-id') !== first, 'the next page has other entries');
await page.goBack();
check(await page.locator('#list .list > li').first().getAttribute('data-id') === first, 'and the way back leads to the first ones');
await open('/knowledge?f=large-54321');
check(await page.locator('#list .list > li').count() === 1, 'a key finds its entry among all');
await open('/recall?q=number+54321');
check(/54321/.test(await page.locator('#hits > li').first().innerText()), 'recall finds the record by its number');
await browser.close();
console.log(`${checks} checks, ${found.length} found`);
process.exit(found.length ? 1 : 0);
