// The operator's page in Chromium, against a coordinator whose rounds are done by simulated devices.
import assert from 'node:assert/strict'
import { after, before, test } from 'node:test'
import { asked, axe, browse, open, play, until } from './support.mjs'

const pictures = process.env.SOTTO_PICTURES
let running, chrome, origin

before(async () => {
  running = await play('--devices', '40', '--cohort', '30', '--rounds', '6', '--news', '300')
  origin = new URL(running.dashboard).origin
  chrome = await browse()
})
after(async () => {
  await chrome?.close()
  if (running) await running.stop()
})

test('rounds appear while the page is open, and every number is the API’s', async () => {
  const { page, problems, requests } = await open(chrome.browser, running.dashboard)
  await page.waitForFunction(() => Number(document.querySelector('#version')?.textContent) >= 2, null, { timeout: 90_000 })
  await running.event((one) => one.event === 'finished')
  await page.waitForFunction(() => document.querySelector('#state')?.textContent === 'finished')
  const status = await asked(`${origin}/v1/status`)
  const { versions } = await asked(`${origin}/v1/versions`)
  const { rounds } = await asked(`${origin}/v1/rounds`)
  const text = (selector) => page.textContent(selector)
  assert.equal(await text('#purpose'), status.purpose)
  assert.equal(await text('#version'), String(versions.find((one) => one.current).version))
  assert.equal(await text('#enrolled'), String(status.enrolled))
  assert.ok((await text('#spent')).startsWith(`ε ${Number(status.epsilon_so_far.toPrecision(3))} `))
  assert.ok(status.epsilon_so_far > 0 && status.epsilon_so_far <= status.epsilon)
  const last = rounds.filter((one) => !one.abandoned).at(-1)
  assert.equal(last.round, status.rounds)
  for (const [stage, devices] of [
    ['came', last.came],
    ['grouped', last.grouped],
    ['advertising', last.phases.advertising.answered],
    ['sharing', last.phases.sharing.answered],
    ['uploading', last.phases.uploading.answered],
    ['unmasking', last.phases.unmasking.answered],
    ['summed', last.summed],
  ])
    assert.equal(await text(`[data-stage=${stage}]`), String(devices), stage)
  assert.equal(await page.locator('#versions tr').count(), Math.min(12, versions.length))
  assert.deepEqual(problems, [], 'nothing went wrong, and nothing was refused by the content security policy')
  for (const request of requests) assert.equal(new URL(request.url()).origin, origin)
  await page.context().close()
})

test('nobody rolls back without the operator’s token, and with it a reason is kept', async () => {
  const { page } = await open(chrome.browser, running.dashboard)
  await page.waitForSelector('#versions tr')
  assert.equal(await page.locator('#versions button').count(), 0, 'no token, no button')
  await page.fill('#token', 'not the token of anybody')
  await page.keyboard.press('Enter')
  await page.waitForSelector('text=/Not done/')
  assert.equal(await page.locator('#versions button').count(), 0)
  const refused = await fetch(`${origin}/v1/admin/roll-back?version=1`, { method: 'POST' })
  assert.equal(refused.status, 401)

  await page.fill('#token', running.operator_token)
  await page.keyboard.press('Enter')
  await page.click('button[aria-label="Roll back to version 1"]')
  await page.fill('#reason', 'rank 1 & 2 were swapped')
  await page.click('dialog button.main')
  await page.waitForSelector('text=Done.')
  const { versions } = await asked(`${origin}/v1/versions`)
  assert.equal(versions.find((one) => one.current).version, 1)
  await page.waitForFunction(() => document.querySelector('#versions tr.current th')?.textContent === '1')
  const { actions } = await asked(`${origin}/v1/admin/actions`, { Authorization: `Bearer ${running.operator_token}` })
  assert.ok(actions.some((one) => `${one.action} ${one.detail}`.includes('rank 1 & 2 were swapped')), JSON.stringify(actions))
  const kept = await page.evaluate(() => JSON.stringify([{ ...localStorage }, { ...sessionStorage }, document.cookie]))
  assert.ok(!kept.includes(running.operator_token), 'the token is in memory alone')
  await page.context().close()
})

test('it can be read: no serious finding of axe, in light and dark, on phones and screens', async () => {
  for (const colorScheme of ['light', 'dark']) {
    for (const width of [360, 768, 1280]) {
      const { page } = await open(chrome.browser, running.dashboard, { colorScheme, viewport: { width, height: 900 } })
      await page.waitForSelector('#versions tr')
      await page.waitForSelector('.plot')
      assert.deepEqual(await axe(page), [], `${colorScheme}, ${width} px`)
      const overflow = await page.evaluate(() => document.documentElement.scrollWidth - innerWidth)
      assert.ok(overflow <= 0, `${overflow} px beyond ${width} px`)
      if (pictures) await page.screenshot({ path: `${pictures}/dashboard-${width}-${colorScheme}.png`, fullPage: true })
      await page.context().close()
    }
  }
})

test('it says so when the coordinator is silent', async () => {
  const { page, context } = await open(chrome.browser, running.dashboard)
  await page.waitForSelector('#versions tr')
  await page.clock.install()
  await context.setOffline(true)
  await until('a stale page', async () => {
    await page.clock.fastForward(20_000)
    return (await page.textContent('#connection')).startsWith('last heard')
  })
  await context.close()
})
