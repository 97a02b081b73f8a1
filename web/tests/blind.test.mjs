// The reader's page in Chromium, against a server of encrypted questions.
import assert from 'node:assert/strict'
import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { after, before, test } from 'node:test'
import { axe, browse, open, serve, until } from './support.mjs'

const pictures = process.env.SOTTO_PICTURES
let running, chrome, folder, address

before(async () => {
  folder = await mkdtemp(join(tmpdir(), 'sotto-blind-'))
  // Clusters of 64, so that a pool of a test's size is asked about.
  running = await serve('--synthetic', '3000', '--catalogue', join(folder, 'pool'), '--port', '0', '--blind', '--reader', '--pack-seconds', '1', '--blind-whole-bytes', '0', '--blind-hint-bytes', '262144')
  address = `${running.url}/`
  await running.event((one) => one.event === 'blind')
  chrome = await browse()
  await until('the edition', async () => (await (await fetch(`${address}v1/stories`)).json()).stories.length > 0)
})
after(async () => {
  await chrome?.close()
  if (running) await running.stop()
  await rm(folder, { recursive: true, force: true })
})

async function agree(page) {
  await page.click('#privacy')
  await page.check('#mode-blind')
  assert.match(await page.textContent('dialog.consent'), /cannot read them: ε = 0, computational/)
  await page.click('#agree')
  await page.waitForFunction(() => document.querySelector('#left details[data-path="/v1/blind"]'))
}

test('an encrypted question is all that leaves, and the panel says that it tells nothing', async () => {
  const { page, requests, problems, context } = await open(chrome.browser, address)
  await page.waitForSelector('#content .card')
  await agree(page)
  const questions = () => requests.filter((one) => one.url().endsWith('/v1/blind'))
  assert.equal(questions().length, 1)
  assert.ok(questions()[0].postDataBuffer().length > 10_000)
  assert.match(await page.textContent('#blind-budget'), /ε = 0, computational/)
  const summary = page.locator('#left details[data-path="/v1/blind"] summary').first()
  assert.match(await summary.textContent(), /An encrypted question/)
  await summary.click()
  const told = await page.textContent('#left details[data-path="/v1/blind"][open]')
  assert.match(told, /Nothing about what you read: ε = 0, computational/)
  const shown = (await page.textContent('#left details[open] .bytes')).replaceAll(' ', '')
  assert.ok(questions()[0].postDataBuffer().toString('hex').startsWith(shown), 'the very bytes, as far as they are kept')
  assert.match(await page.textContent('#line'), /Left: nothing about you/)
  if (pictures) await page.screenshot({ path: `${pictures}/blind-panel.png` })
  assert.deepEqual(await axe(page), [])
  assert.deepEqual(problems, [])
  await context.close()
})

test('what is opened is learned from here, is known to the server, and the page says so', async () => {
  const { page, requests, context } = await open(chrome.browser, address)
  await page.waitForSelector('#content .card')
  await agree(page)
  await page.keyboard.press('Escape')
  await page.goto(`${address}#/latest`)
  await page.locator('#content .card h2 a').nth(3).click()
  await page.waitForSelector('#content article')
  await page.waitForFunction(() => document.querySelector('#line').textContent.includes('1 story that you opened'))
  const id = await page.getAttribute('#content article', 'data-item')
  assert.equal(requests.filter((one) => one.url().endsWith(`/v1/items/${id}`)).length, 1)
  assert.match(await page.textContent('#line'), /device: 1 read/)
  await page.goto(`${address}#/`)
  await page.waitForSelector('#source')
  assert.match(await page.textContent('#source'), /encrypted question/)
  assert.ok((await page.$$('#content .card')).length >= 20)
  assert.equal(await page.locator(`#content .card[data-item="${id}"]`).count(), 0, 'what was read is left out')
  // Reading asks no question: those go by the clock.
  assert.equal(requests.filter((one) => one.url().endsWith('/v1/blind')).length, 1)
  if (pictures) await page.screenshot({ path: `${pictures}/blind-page.png` })
  await context.close()
})
