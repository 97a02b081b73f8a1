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
  assert.ok((await text('#spent')).includes(` of ε = ${Number(status.epsilon_in_all.toPrecision(3))} at δ = 10⁻⁶`))
  assert.ok(status.epsilon_so_far > 0 && status.epsilon_so_far <= status.epsilon_in_all)
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

test('what the server that recommends says of itself stands beside it', async () => {
  const { page, context } = await open(chrome.browser, running.dashboard)
  const figure = async (name) => page.textContent(`[data-figure=${name}]`)
  await page.waitForSelector('[data-figure=items]')
  const before = Number((await figure('queries')).replaceAll(',', ''))
  for (let i = 0; i < 5; ++i) assert.equal((await fetch(`${running.reader}v1/popular?count=3`)).status, 200)
  assert.equal((await fetch(`${running.reader}v1/recommend`, { method: 'POST', headers: { 'Content-Type': 'application/json' }, body: 'no question' })).status, 400)
  await until('the questions on the page', async () => Number((await figure('queries')).replaceAll(',', '')) >= before + 6)
  const said = await asked(`${origin}/v1/serving`)
  assert.equal(said.servers.length, 1)
  const [server] = said.servers
  assert.equal(`${server.url}/`, running.reader)
  assert.equal(await page.getAttribute('[data-server]', 'data-server'), server.url)
  assert.equal(await figure('items'), server.items.toLocaleString('en'))
  assert.equal(server.items, (await asked(`${running.reader}v1/stories`)).stories.length)
  assert.equal(await figure('refused-400'), String(server.refusals['400']))
  assert.ok(server.refusals['400'] >= 1 && server.queries_per_second > 0 && server.p50_ms > 0 && server.p99_ms >= server.p50_ms)
  await context.close()
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
      const columns = await page.$$eval('.plot rect', (list) => list.map((one) => ({ y: Number(one.getAttribute('y')), top: one.closest('svg').querySelector('.grid:nth-of-type(1)') && Math.min(...[...one.closest('svg').querySelectorAll('.grid')].map((line) => Number(line.getAttribute('y1')))) })))
      assert.ok(columns.length > 0)
      for (const { y, top } of columns) assert.ok(y >= top - 0.01, `a column ends at ${y}, above the last step at ${top}`)
      if (pictures) await page.screenshot({ path: `${pictures}/dashboard-${width}-${colorScheme}.png`, fullPage: true })
      await page.context().close()
    }
  }
})

test('what needs somebody is said: a group that was refused, a full disk, clocks that differ, a server that is silent', async () => {
  await running.event((one) => one.event === 'finished')
  const context = await chrome.browser.newContext()
  const page = await context.newPage()
  const trained = (rounds) => rounds.filter((one) => !one.evaluates).at(-1)
  const changed = (path, change) =>
    context.route(`**${path}`, async (route) => {
      const answer = await route.fetch()
      const headers = { ...answer.headers(), date: new Date(Date.now() + 600_000).toUTCString() }
      await route.fulfill({ response: answer, headers, json: change(await answer.json()) })
    })
  await changed('/v1/rounds', ({ rounds }) => ({
    rounds: rounds.map((one) => ({ ...one, groups_implausible: one === trained(rounds) ? 1 : 0 })),
  }))
  await changed('/v1/serving', ({ servers }) => ({
    servers: servers.map((one) => ({ ...one, problem: 'it answers 503', heard: 40.2, changes_lost: 2 })),
    problem: '',
  }))
  const status = await asked(`${origin}/v1/status`)
  const { round } = trained((await asked(`${origin}/v1/rounds`)).rounds)
  await context.route('**/v1/events', (route) =>
    route.fulfill({
      contentType: 'text/event-stream',
      body: `retry: 60000\nid: test-1\nevent: status\ndata: ${JSON.stringify({ ...status, stored: false })}\n\n`,
    }),
  )
  await page.goto(running.dashboard)
  const alerts = await until('the alerts', async () => {
    const list = await page.$$eval('.alerts li', (rows) => rows.map((row) => row.textContent))
    return list.length >= 5 && list
  })
  for (const said of [
    new RegExp(`Round ${round}: 1 group was refused, because no honest devices could give such a sum`),
    /can keep nothing in its store now: the disk may be full/,
    /clock is (10 min|9 min) \d+ s ahead of this machine/,
    /does not say how it stands: it answers 503/,
    /its disk did not take 2 changes of the catalogue/,
  ])
    assert.ok(alerts.some((one) => said.test(one)), `${said} is not in ${alerts.join(' | ')}`)
  assert.match(await page.textContent('.server'), /Last heard 40 s ago: it answers 503/)
  assert.deepEqual(await axe(page), [])
  if (pictures) await page.screenshot({ path: `${pictures}/dashboard-alerts.png`, fullPage: true })
  await context.close()
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
