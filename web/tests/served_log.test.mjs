// What a page says and does when its service shows it another list of editions than before, or one that too few have seen.
import assert from 'node:assert/strict'
import { mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { after, before, test } from 'node:test'
import { browse, command, open, serve } from './support.mjs'

let folder, chrome, port
const at = (name) => join(folder, name)
const posts = ({ requests }) => requests.filter((one) => one.method() === 'POST').length
const notice = (page, text) =>
  page.waitForFunction((part) => document.querySelector('.notice')?.textContent.includes(part), text, { timeout: 120_000 })

before(async () => {
  folder = await mkdtemp(join(tmpdir(), 'sotto-served-log-'))
  for (const name of ['owner', 'other', 'witness']) await command('campaign', 'keys', '--out', at(`${name}.key`))
  chrome = await browse()
})
after(async () => {
  await chrome?.close()
  if (folder) await rm(folder, { recursive: true, force: true })
})

/** A server of so many made-up items, always at the same address: another number is another edition. */
async function serveWith(items, log, key, ...more) {
  const serving = await serve(
    ...['--synthetic', String(items), '--catalogue', at(`items-${log}`), '--reader', '--service', 'Harbour News'],
    ...['--log', at(log), '--log-key', at(`${key}.key`), '--port', String(port ?? 0), ...more],
  )
  port = new URL(serving.url).port
  return serving
}
/** Asks for the list for everybody whenever it is opened: what a refusal keeps from being sent. */
async function reader(serving) {
  const made = await open(chrome.browser, `${serving.url}/`)
  await made.page.waitForSelector('#content .card')
  return made
}
async function askAlways({ page }) {
  await page.click('#privacy')
  await page.check('#mode-popular')
  await page.click('#agree')
  await page.waitForSelector('#left details[data-path="/v1/recommend"]')
}

test('another list, and another key, are refused in words, and nothing is asked', async () => {
  let serving = await serveWith(200, 'log', 'owner')
  const visit = await reader(serving)
  await askAlways(visit)
  assert.match(await visit.page.textContent('#log'), /public list of 1 entry/)
  const pack = await visit.page.textContent('#pack')
  assert.equal(posts(visit), 1)
  await visit.page.reload()
  await visit.page.waitForSelector('#log-entry', { state: 'attached' })
  assert.equal(await visit.page.textContent('.notice'), '', 'the same list is taken')
  await serving.stop()

  // The same owner, another first entry.
  await writeFile(at('something'), 'nobody was shown this')
  await command('log', 'append', at('forked'), '--key', at('owner.key'), '--pack', at('something'))
  for (const [items, log, key] of [
    [210, 'forked', 'owner'],
    [220, 'others', 'other'],
  ]) {
    serving = await serveWith(items, log, key)
    const asked = posts(visit)
    await visit.page.reload()
    await notice(visit.page, 'another list of editions than it showed before')
    assert.match(await visit.page.textContent('.notice'), /its edition is not used and nothing is asked/)
    await visit.page.waitForSelector('#content .card')
    assert.equal(posts(visit), asked, `${log}: nothing is asked`)
    assert.equal(await visit.page.textContent('#pack'), pack, 'the edition from before is there')
    await serving.stop()
  }
  await visit.context.close()
})

test('too few witnesses are refused in words, until one has signed', async () => {
  const witnessed = ['--log-witness', at('witness.key.pub'), '--reader-witnesses-needed', '1']
  const serving = await serveWith(200, 'witnessed', 'owner', ...witnessed)
  const visit = await reader(serving)
  await notice(visit.page, 'Too few witnesses have signed')
  assert.equal(posts(visit), 0)
  assert.equal(await visit.page.textContent('#pack'), '', 'no edition was taken')
  await command('log', 'witness', '--server', serving.url, '--owner-key', at('owner.key.pub'), '--key', at('witness.key'), '--state', at('seen'))
  await visit.page.reload()
  await askAlways(visit)
  assert.match(await visit.page.textContent('#log'), /1 witness has signed it, 1 needed/)
  await visit.context.close()
  await serving.stop()
})
