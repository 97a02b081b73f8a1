// Pages that train: two of them beside a fleet of native devices, in a campaign whose operator signed it.
import assert from 'node:assert/strict'
import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { after, before, test } from 'node:test'
import { asked, axe, browse, command, coordinator, fleet, open, serve, until } from './support.mjs'

const natives = 58
const pictures = process.env.SOTTO_PICTURES
let folder, chrome, running, serving, tokens, readers
const at = (name) => join(folder, name)

/** A campaign of the operator, signed; further flags change what it asks for. */
async function campaign(name, operator, ...flags) {
  await command(
    ...['campaign', 'new', '--recipe', 'sotto', '--data', at('news'), '--coordinator-key', at('coordinator.key.pub')],
    ...['--cohort', String(natives + 2), '--rounds', '2', '--participations', '2', '--max-training-seconds', '1'],
    ...['--shortest-phase-seconds', '20', '--longest-phase-seconds', '120', '--purpose', 'Better news for the harbour'],
    ...['--out', at(`${name}.toml`), ...flags],
  )
  await command('campaign', 'sign', at(`${name}.toml`), '--key', at(`${operator}.key`), '--out', at(`${name}.sotto`))
}
/** Its coordinator, at the address of the one before. */
const coordinate = (name, operator, store) =>
  coordinator(
    ...['--campaign', at(`${name}.sotto`), '--data', at('news'), '--store', at(store), '--key', at('coordinator.key')],
    ...['--operator-key', at(`${operator}.key.pub`), '--listen', `127.0.0.1:${running ? new URL(running.url).port : 0}`],
  )
async function coordinateInstead(...which) {
  await running.stop()
  running = await coordinate(...which)
  await until('a round is offered', async () => (await fetch(`${running.url}/v1/order`)).status === 200, 240)
}

const posts = ({ requests }) => requests.filter((one) => one.method() === 'POST')
const problem = (page) => page.textContent('#training-problem').catch(() => '')
const wait = { timeout: 240_000 }

/** A reader who has opened a few stories. */
async function newReader(options) {
  const reader = await open(chrome.browser, `${serving.url}/`, options)
  await reader.page.waitForSelector('#content .card')
  for (let i = 0; i < 3; ++i) {
    await reader.page.goto(`${serving.url}/#/latest`)
    await reader.page.locator('#content .card h2 a').nth(5 * i).click()
    await reader.page.waitForFunction((n) => document.querySelector('#line').textContent.includes(`${n} read`), i + 1)
  }
  await reader.page.goto(`${serving.url}/#/`)
  return reader
}

before(async () => {
  folder = await mkdtemp(join(tmpdir(), 'sotto-training-'))
  for (const name of ['operator', 'stranger', 'coordinator']) await command('campaign', 'keys', '--out', at(`${name}.key`))
  await command('data', 'generate', 'newsroom', '--users', '120', '--news', '300', '--days', '3', '--out', at('news'))
  await command('train', 'sotto', '--data', at('news'), '--out', at('run'), '--rounds', '1', '--epsilon', '8')
  await campaign('campaign', 'operator', '--epsilon', '8')
  await command('campaign', 'tokens', '--key', at('operator.key'), '--count', String(natives + 2), '--out', at('tokens'))
  const all = (await readFile(at('tokens'), 'utf8')).trim().split('\n')
  tokens = all.slice(natives)
  await writeFile(at('native-tokens'), `${all.slice(0, natives).join('\n')}\n`, { mode: 0o600 })
  running = await coordinate('campaign', 'operator', 'store')
  serving = await serve(
    ...['--run', at('run'), '--catalogue', at('catalogue'), '--reader', '--service', 'Harbour News', '--pack-seconds', '1'],
    ...['--coordinator', running.url, '--operator-key', at('operator.key.pub'), '--follow', '--follow-seconds', '1'],
  )
  chrome = await browse()
  await until('the edition', async () => (await asked(`${serving.url}/v1/stories`)).stories.length > 0, 120)
})
after(async () => {
  await chrome?.close()
  if (serving) await serving.stop()
  if (running) await running.stop()
  if (folder) await rm(folder, { recursive: true, force: true })
})

test('two pages and 58 native devices complete a masked round: the version moves and all verify the log', async () => {
  const first = await asked(`${running.url}/v1/status`)
  readers = [await newReader(), await newReader({ viewport: { width: 360, height: 800 }, colorScheme: 'dark' })]
  const packs = []
  for (const [number, reader] of readers.entries()) {
    const { page } = reader
    await page.click('#privacy')
    packs.push(await page.textContent('#pack'))
    assert.match(await page.textContent('#campaign'), /trains for nobody/)
    await page.click('#train')
    const said = await page.textContent('dialog.consent')
    assert.match(said, /Better news for the harbour/)
    assert.match(said, /in a group of 60 devices/)
    assert.match(said, /costs at most 8 of your budget/)
    assert.deepEqual(await axe(page), [])
    if (pictures) await page.screenshot({ path: `${pictures}/reader-training-consent-${number}.png` })
    assert.deepEqual(posts(reader), [], 'nothing is sent before anything is agreed to')
    await page.fill('#token', tokens[number])
    assert.ok(await page.isDisabled('#agree'), 'the question of the first time is answered first')
    await page.check('#first-time')
    await page.click('#agree')
    await page.waitForSelector('#training-state', wait)
    assert.match(await page.textContent('#training-budget .number'), /^0 of 8$/)
  }
  const native = await fleet(
    ...['--devices', String(natives), '--data', at('news'), '--server', running.url, '--rounds', '1'],
    ...['--operator-key', at('operator.key.pub'), '--tokens', at('native-tokens'), '--patience-seconds', '400'],
  )
  assert.equal(native.participations, natives)
  // Who comes again before the sum is folded is offered the round it was charged for, and declines.
  const again = native.reasons['charged-before'] ?? 0
  assert.equal(native.refused + native.ended - again, 0, `every native device verified what it was shown: ${JSON.stringify(native.reasons)}`)
  const now = await asked(`${running.url}/v1/status`)
  assert.equal(now.rounds_done, 1)
  assert.notEqual(now.version, first.version)
  assert.equal(now.last_round.summed, natives + 2)
  const { entries } = await asked(`${running.url}/v1/log/entries`)
  for (const [number, { page, requests }] of readers.entries()) {
    await page.waitForFunction(() => document.querySelector('#training-state')?.textContent.includes('Took part in 1 round'), null, wait)
    assert.equal(await problem(page), '')
    // The campaign, and the list that it stands in, as this browser has checked them.
    assert.equal(await page.textContent('#campaign-hash'), now.campaign.slice(0, 12))
    assert.match(await page.textContent('#campaign-log'), /^✓ [0-9a-f]{12}$/)
    const exported = await page.evaluate(
      () =>
        new Promise((resolve, reject) => {
          const wanted = indexedDB.open('sotto-device')
          wanted.onerror = () => reject(wanted.error)
          wanted.onsuccess = () => {
            const all = wanted.result.transaction('trained').objectStore('trained').getAll()
            all.onsuccess = () => resolve(all.result)
          }
        }),
    )
    const { checked, charged } = exported.find((one) => one.outcome === 'took part')
    assert.equal(charged, true)
    assert.equal(entries[checked.campaign_entry].hash, now.campaign, 'the entry that the page names is the campaign')
    assert.ok(entries.some((one) => one.hash === checked.model))
    // It was charged, and the bar says so.
    const spent = Number((await page.textContent('#training-budget .number')).split(' ')[0])
    assert.ok(spent > 0 && spent <= 8, `${spent}`)
    assert.match(await page.textContent('#line'), /masked parts of 1 sum /)
    // What the server saw: the very bytes, and what they mean.
    const upload = requests.find((one) => one.url().endsWith('/upload'))
    const shown = page.locator('#left details[data-path$="/upload"]').first()
    await shown.locator('summary').click()
    const bytes = (await shown.locator('.bytes').textContent()).replaceAll(' ', '')
    assert.ok(upload.postDataBuffer().toString('hex').startsWith(bytes) && bytes.length > 500)
    assert.match(await shown.textContent(), /masked/)
    for (const one of requests) assert.ok(!/cookie|authorization/i.test(JSON.stringify(await one.allHeaders())), one.url())
    assert.deepEqual(await axe(page), [])
    if (pictures) await page.screenshot({ path: `${pictures}/reader-training-${number}.png` })
  }
  // What was learned is what is served.
  const followed = await serving.event((one) => one.event === 'followed')
  assert.equal(followed.version, now.version)
  await until(
    'the page has the model that it helped to train',
    async () => {
      await readers[0].page.reload()
      await readers[0].page.waitForSelector('#content .card')
      await new Promise((resolve) => setTimeout(resolve, 2000))
      return (await readers[0].page.textContent('#pack')) !== packs[0]
    },
    240,
  )
  assert.equal(readers[0].problems.filter((one) => !/status of 404/.test(one)).join(), '')
})

test('a coordinator that shows another list than before is refused in words, and asked no more', async () => {
  await campaign('forked', 'operator', '--epsilon', '7')
  await coordinateInstead('forked', 'operator', 'forked-store')
  const [{ page, requests }] = readers
  await page.reload()
  await page.waitForSelector('#content .card')
  const before = posts(readers[0]).length
  await page.click('#privacy')
  await page.waitForSelector('#training-problem', wait)
  assert.match(await problem(page), /another list of campaigns and models than it showed before/)
  assert.match(await problem(page), /does not train any more, and nothing was sent/)
  const seen = requests.length
  await new Promise((resolve) => setTimeout(resolve, 8000))
  assert.equal(requests.slice(seen).filter((one) => one.url().includes('/training/')).length, 0, 'nothing is asked there')
  assert.equal(posts(readers[0]).length, before)
  if (pictures) await page.screenshot({ path: `${pictures}/reader-training-forked.png` })
})

test('a campaign that protects less than was agreed to is refused in words', async () => {
  await campaign('weaker', 'operator', '--epsilon', '30')
  await coordinateInstead('weaker', 'operator', 'store')
  for (const reader of readers) {
    const { page } = reader
    await page.reload()
    await page.waitForSelector('#content .card')
    const before = posts(reader).length
    await page.click('#privacy')
    await page.waitForFunction(() => document.querySelector('#training-problem')?.textContent.includes('asks for more than you agreed to'), null, wait)
    assert.match(await problem(page), /is (29|30)[.\d]*, and the owner of this device allows at most 8/)
    assert.equal(posts(reader).length, before, 'nothing was sent')
  }
})

test('a campaign of another operator is refused in words', async () => {
  await campaign('foreign', 'stranger', '--epsilon', '8')
  await coordinateInstead('foreign', 'stranger', 'foreign-store')
  const [reader] = readers
  await reader.page.reload()
  await reader.page.waitForSelector('#content .card')
  const before = posts(reader).length
  await reader.page.click('#privacy')
  await reader.page.waitForSelector('#training-problem', wait)
  assert.match(await problem(reader.page), /not signed by the operator that your device was enrolled with/)
  assert.equal(posts(reader).length, before)
  // Whoever stops is asked for nothing any more, and may begin anew.
  await reader.page.click('#stop-training')
  await reader.page.waitForSelector('#train')
  assert.match(await reader.page.textContent('#training-budget'), /not agreed to/)
  for (const { context } of readers) await context.close()
})
