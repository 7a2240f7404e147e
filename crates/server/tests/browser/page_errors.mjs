// Errors of a page for the scripts of this folder: errors in the console, exceptions, and violations of the content
// security policy, whichever level the browser logs them at.
export async function collectErrors(page) {
  const errors = [];
  page.on('console', message => {
    if (message.type() === 'error' || isPolicyError(message.text())) errors.push(message.text());
  });
  page.on('pageerror', error => errors.push(String(error)));
  const report = () => document.addEventListener('securitypolicyviolation', event => {
    console.error(`security policy violated: ${event.violatedDirective} ${event.sourceFile}:${event.lineNumber}`);
  });
  // The name in Playwright, and that in Puppeteer.
  await (page.addInitScript ?? page.evaluateOnNewDocument).call(page, report);
  return errors;
}
export const isPolicyError = text => /security.policy/i.test(text);
