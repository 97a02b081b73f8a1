// The reader's page in Chromium, against `sotto play`.
import assert from 'node:assert/strict'
import { readFile } from 'node:fs/promises'
import { after, before, test } from 'node:test'
import { asked, axe, browse, open, play, until } from './support.mjs'

const pictures = process.env.SOTTO_PICTURES
let running, chrome, address, stories

before(async () => {
  running = await play('--devices', '20', '--cohort', '20', '--rounds', '1', '--news', '600')
  address = running.reader
  chrome = await browse()
  for (let i = 0; i < 100 && !stories?.length; ++i) {
    stories = (await asked(`${address}v1/stories`)).stories
    if (!stories.length) await new Promise((resolve) => setTimeout(resolve, 100))
  }
  assert.ok(stories.length >= 500)
})
after(async () => {
  await chrome?.close()
  if (running) await running.stop()
})

const ready = (page) => page.waitForSelector('#content .card')
const line = (page) => page.textContent('#line')
const reads = async (page) => Number((await line(page)).match(/device: (\d+)/)[1])
const shownCategories = (page) => page.$$eval('#content .card', (cards) => cards.map((card) => card.dataset.category))
const spent = (page, window = 'day') => page.textContent(`[data-budget=${window}] .number`)
const becomesSpent = (page, text) =>
  page.waitForFunction((wanted) => document.querySelector('[data-budget=day] .number')?.textContent === wanted, text)

async function read(page, category, count, from = 0) {
  await page.goto(`${address}#/category/${category}`)
  for (let i = 0; i < count; ++i) {
    const before = await reads(page)
    await page.locator('#content .card h2 a').nth(from + i).click()
    await page.waitForSelector('#content article')
    await page.waitForFunction((n) => Number(document.querySelector('#line').textContent.match(/device: (\d+)/)[1]) > n, before)
    const leaving = await page.$$eval('a[href]', (links) => links.map((one) => one.getAttribute('href')).filter((one) => !one.startsWith('#')))
    assert.deepEqual(leaving, [], 'no link leaves the page')
    await page.goBack()
    await page.waitForSelector('#content .card')
  }
}
async function agree(page) {
  await page.click('#privacy')
  await page.check('#mode-private')
  await page.check('#first-time')
  await page.click('#agree')
  await page.waitForSelector('[data-budget=day]')
}
const told = (page) => page.waitForFunction(() => document.querySelector('#line').textContent.includes('private number'))

test('ten stories of one topic raise its share of the page, and nothing about them leaves', async () => {
  const { page, problems, requests, context } = await open(chrome.browser, address)
  await ready(page)
  assert.match(await page.textContent('#content'), /Nothing is known about you/)
  const count = new Map()
  for (const story of stories) count.set(story.category, (count.get(story.category) ?? 0) + 1)
  const topic = [...count].filter(([, number]) => number >= 30).sort((a, b) => a[1] - b[1])[0][0]
  const before = (await shownCategories(page)).filter((one) => one === topic).length
  const seen = requests.length
  await read(page, topic, 10)
  assert.equal(await reads(page), 10)
  assert.equal(requests.length, seen, 'reading asks nobody for anything')
  await page.goto(`${address}#/`)
  await page.waitForSelector('#source')
  const shown = await shownCategories(page)
  const share = shown.filter((one) => one === topic).length
  assert.ok(share > before + 2, `${topic}: ${before} of 24 before, ${share} of ${shown.length} after`)

  await page.locator('.why').first().click()
  await page.waitForSelector('.reason p')
  assert.deepEqual(problems, [])
  await context.close()
})

test('the requests of a whole visit say nothing of the history but one paid number', async () => {
  const { page, requests, context } = await open(chrome.browser, address)
  await ready(page)
  await read(page, 'sports', 4)
  await agree(page)
  await told(page)
  const sizes = []
  for (const request of requests) {
    const body = request.postDataBuffer()
    const text = `${request.url()} ${JSON.stringify(await request.allHeaders())} ${body ? body.toString('latin1') : ''}`
    for (const { id } of stories) assert.ok(!new RegExp(`\\b${id}\\b`).test(text), `${id} stands in a request: ${request.url()}`)
    assert.ok(!/sports/.test(text) && !/cookie/i.test(text), text)
    if (body) sizes.push(body.length)
  }
  assert.equal(sizes.length, 1, 'one question')

  // The panel shows the very bytes.
  const sent = requests.find((one) => one.postDataBuffer())
  await page.locator('#left details[data-path="/v1/recommend"] summary').first().click()
  const bytes = (await page.textContent('#left details[open] .bytes')).replaceAll(' ', '')
  assert.equal(bytes, sent.postDataBuffer().toString('hex'))
  await context.close()
})

test('requests have the same order, addresses and sizes whatever was read, and leave at the same moments', async () => {
  /** What leaves at each step of a visit; `steps` of one that reads and of one that does not are as many. */
  const visit = async (topic) => {
    const { page, requests, context } = await open(chrome.browser, address)
    const phases = []
    let seen = 0
    // The edition is fetched page after page, and answers of one step may come in any order.
    const step = async (act) => {
      await act()
      await page.waitForLoadState('networkidle')
      const left = requests.slice(seen).map((one) => {
        const { pathname, search } = new URL(one.url())
        return `${one.method()} ${pathname}${search} ${one.postDataBuffer()?.length ?? 0} ${Object.keys(one.headers()).sort().join(' ')}`
      })
      seen = requests.length
      phases.push(left.sort())
    }
    await step(() => ready(page))
    await step(async () => topic && (await read(page, topic, 6)))
    await step(async () => {
      await agree(page)
      await told(page)
      await page.keyboard.press('Escape')
    })
    await step(async () => topic && (await read(page, topic, 2, 6)))
    await step(async () => {
      await page.reload()
      await ready(page)
      await page.waitForFunction(() => !document.querySelector('.dot.busy'))
    })
    await context.close()
    return phases
  }
  const ofNothing = await visit('')
  assert.deepEqual([ofNothing[1], ofNothing[3]], [[], []])
  assert.equal(ofNothing[2].filter((one) => one.startsWith('POST')).length, 1)
  assert.deepEqual(await visit('sports'), ofNothing)
  assert.deepEqual(await visit('weather'), ofNothing)
})

test('one read can be deleted, and the page is ranked without it', async () => {
  const { page, requests, context } = await open(chrome.browser, address)
  await ready(page)
  await read(page, 'weather', 2)
  await read(page, 'sports', 1)
  const seen = requests.length
  await page.click('#privacy')
  await page.click('#stayed details[data-category=weather] summary')
  const items = () => page.$$eval('#stayed details[data-category=weather] li', (rows) => rows.map((row) => row.dataset.item))
  const [gone, stays] = await items()
  await page.click(`#stayed li[data-item="${gone}"] button`)
  await page.waitForFunction(() => document.querySelector('#line').textContent.includes('2 reads'))
  assert.deepEqual(await items(), [stays], 'the topic stays open')
  assert.equal(await page.evaluate(() => document.activeElement?.id), 'reads-weather', 'the focus is where it was')
  const [download] = await Promise.all([page.waitForEvent('download'), page.click('#export')])
  const kept = await readFile(await download.path(), 'utf8')
  assert.deepEqual(JSON.parse(kept).clicks.map((click) => click.item).includes(gone), false)
  for (const { clicked_before, shown } of JSON.parse(kept).pages) {
    assert.ok(!clicked_before.includes(gone), 'nor was it read before something else')
    assert.ok(!shown.some((one) => one.item === gone && one.clicked))
  }
  assert.equal(requests.length, seen, 'nobody is told')
  assert.deepEqual(await axe(page), [])
  await page.reload()
  await page.waitForFunction(() => document.querySelector('#line')?.textContent.includes('2 reads'))
  await context.close()
})

test('the budget falls by what was printed, and the page refuses when it is spent', async () => {
  const { page, requests, context } = await open(chrome.browser, address)
  await ready(page)
  const offer = await asked(`${address}v1/reader`)
  assert.equal(offer.epsilon, 4)
  await page.click('#privacy')
  await page.check('#mode-private')
  assert.match(await page.textContent('dialog.consent'), /One answer costs 4 of your budget/)
  await page.click('dialog.consent button:not(.main)')
  await page.waitForFunction(() => document.querySelector('#mode-local').checked)
  assert.equal(requests.filter((one) => one.method() === 'POST').length, 0, 'without consent nothing is asked')
  await page.check('#mode-private')
  await page.check('#first-time')
  await page.click('#agree')
  for (let answers = 1; answers <= 3; ++answers) {
    await becomesSpent(page, `${4 * answers} of 12`)
    await page.click('#forget-reading')
  }
  await page.waitForFunction(() => document.querySelector('.notice')?.textContent.includes('budget is spent'))
  assert.equal(await spent(page), '12 of 12')
  const questions = requests.filter((one) => one.method() === 'POST').map((one) => one.postDataBuffer().length)
  assert.equal(questions.length, 4)
  assert.ok(questions[3] < questions[0], 'the last one asks for the list for everybody')
  assert.match(await page.textContent('#privacy'), /12 of 12 today/)
  await context.close()
})

test('what was read is there after a reload, two tabs are one device, and forgetting leaves nothing', async () => {
  const { page, context } = await open(chrome.browser, address)
  await ready(page)
  await read(page, 'weather', 2)
  await page.reload()
  await page.waitForFunction(() => document.querySelector('#line')?.textContent.includes('2 reads'))
  const second = await context.newPage()
  await second.goto(address)
  await second.waitForFunction(() => document.querySelector('#line')?.textContent.includes('2 reads'))
  assert.match(await second.textContent('.notice'), /Another tab/)
  await read(second, 'movies', 1)
  await page.waitForFunction(() => document.querySelector('#line')?.textContent.includes('3 reads'))
  // The tab that ran the device goes, the other one takes over with all of it.
  await page.close()
  await second.waitForFunction(() => !document.querySelector('.notice').textContent.includes('Another tab'))
  assert.equal(await reads(second), 3)
  await read(second, 'music', 1)

  await second.click('#privacy')
  const [download] = await Promise.all([second.waitForEvent('download'), second.click('#export')])
  assert.equal(download.suggestedFilename(), 'sotto-device.json')
  await second.click('#erase')
  await second.click('#erase-sure')
  await second.waitForSelector('#gone')
  assert.deepEqual(await second.evaluate(() => indexedDB.databases()), [])
  await second.click('#gone button')
  await ready(second)
  assert.equal(await reads(second), 0)
  await second.waitForFunction(() => document.querySelector('.notice').textContent.includes('Everything was deleted'))
  await second.click('#privacy')
  await second.check('#mode-private')
  await second.click('#agree')
  await second.waitForSelector('[data-budget=day]')
  assert.equal(await spent(second), '12 of 12, counts as spent', 'deleting brings no budget back')
  await context.close()
})

test('whoever does not say that it is the first time has no budget, and nothing is chosen for them', async () => {
  const { page, requests, context } = await open(chrome.browser, address)
  await ready(page)
  await page.click('#privacy')
  await page.check('#mode-private')
  assert.ok(await page.isDisabled('#agree'), 'the question is answered first')
  await page.check('#not-first')
  await page.click('#agree')
  await becomesSpent(page, '12 of 12, counts as spent')
  await page.waitForFunction(() => document.querySelector('.notice')?.textContent.includes('count as spent'))
  const posts = requests.filter((one) => one.method() === 'POST')
  assert.equal(posts.length, 1)
  assert.ok(posts[0].postDataBuffer().length < 1000, 'the list for everybody')
  await context.close()
})

test('a browser that keeps no note of the ledger sends nothing, and says why', async () => {
  const { page, requests, context } = await open(chrome.browser, address)
  await ready(page)
  await page.evaluate(() => {
    Storage.prototype.setItem = (key) => {
      if (key === 'sotto-ledger-anchor') throw new DOMException('the disk is full', 'QuotaExceededError')
    }
  })
  await page.click('#privacy')
  await page.check('#mode-private')
  await page.check('#first-time')
  await page.click('#agree')
  await page.waitForFunction(() => document.querySelector('.notice')?.textContent.includes('does not let pages keep'))
  assert.equal(requests.filter((one) => one.method() === 'POST').length, 0)
  await context.close()
})

test('forgetting in one tab is forgetting in all, and the device can be used again in each', async () => {
  const { page, context } = await open(chrome.browser, address)
  await ready(page)
  await read(page, 'weather', 1)
  const second = await context.newPage()
  await second.goto(address)
  await second.waitForFunction(() => document.querySelector('#line')?.textContent.includes('1 read'))
  await page.click('#privacy')
  await page.click('#erase')
  await page.click('#erase-sure')
  await page.waitForSelector('#gone')
  await second.waitForSelector('#gone')
  assert.deepEqual(await second.evaluate(() => indexedDB.databases()), [], 'no tab begins anew by itself')
  const { held, pending } = await second.evaluate(() => navigator.locks.query())
  assert.deepEqual([held.length, pending.length], [0, 0])
  await second.click('#gone button')
  await ready(second)
  await read(second, 'weather', 1)
  assert.equal(await reads(second), 1)
  await page.click('#gone button')
  await page.waitForFunction(() => document.querySelector('#line')?.textContent.includes('1 read'))
  await context.close()
})

// The tab that has the device dies when a click is on its disk and the answer is not said yet.
test('a click that was kept is not counted twice by the tab that takes over', async () => {
  const { page, context } = await open(chrome.browser, address)
  await ready(page)
  const worker = page.workers()[0]
  const second = await context.newPage()
  await second.goto(address)
  await ready(second)
  await second.waitForFunction(() => document.querySelector('.notice').textContent.includes('Another tab'))
  await worker.evaluate(() => {
    const say = BroadcastChannel.prototype.postMessage
    BroadcastChannel.prototype.postMessage = function (said) {
      if (said.kind === 'question' || said.kind === 'here') say.call(this, said) // answers are lost
    }
  })
  await second.goto(`${address}#/category/weather`)
  await second.locator('#content .card h2 a').first().click()
  await second.waitForSelector('article')
  await until('the click on the disk', async () => (await page.textContent('#line')).includes('1 read'))
  await page.close()
  await second.waitForFunction(() => !document.querySelector('.notice').textContent.includes('Another tab'))
  await second.waitForFunction(() => document.querySelector('#line').textContent.includes('1 read'))
  await second.click('#privacy')
  const [download] = await Promise.all([second.waitForEvent('download'), second.click('#export')])
  const kept = JSON.parse(await readFile(await download.path(), 'utf8'))
  assert.equal(kept.clicks.length, 1)
  assert.equal(kept.pages.length, 1, 'the page that was shown, once')
  await context.close()
})

test('what was told is explained with what it cost then, whatever the service offers now', async () => {
  const { page, context } = await open(chrome.browser, address)
  await ready(page)
  await agree(page)
  await told(page)
  const entry = (at) => at.locator('#left details[data-path="/v1/recommend"]').last().textContent()
  assert.match(await entry(page), /Charged: 4\./)
  await context.route('**/v1/reader', async (route) => {
    const answer = await route.fetch()
    await route.fulfill({ response: answer, json: { ...(await answer.json()), epsilon: 9 } })
  })
  const again = await context.newPage()
  await again.goto(address)
  await ready(again)
  await again.click('#privacy')
  await again.waitForSelector('#left details[data-path="/v1/recommend"]')
  assert.match(await entry(again), /Charged: 4\./)
  await context.close()
})

test('topics are released by their reader alone, after reading what that means, and told exactly for nothing', async () => {
  const { page, requests, context } = await open(chrome.browser, address)
  await ready(page)
  await read(page, 'sports', 2)
  await page.click('#privacy')
  assert.ok(await page.isDisabled('#release-sports'))
  assert.equal(await page.locator('#mode-released').count(), 0, 'nothing is released')
  await page.click('#release-read')
  await page.check('#release-sports')
  await page.waitForSelector('#mode-released')
  assert.equal(requests.filter((one) => one.method() === 'POST').length, 0, 'a switch tells nothing')
  await page.check('#mode-released')
  assert.match(await page.textContent('dialog.consent'), /exactly which group of readers your reads in sports/)
  await page.check('#first-time')
  await page.click('#agree')
  await page.waitForSelector('#left details[data-path="/v1/recommend"]')
  assert.match(await page.locator('#left details[data-path="/v1/recommend"]').textContent(), /What you released/)
  const [download] = await Promise.all([page.waitForEvent('download'), page.click('#export')])
  const { ledger } = JSON.parse(await readFile(await download.path(), 'utf8'))
  assert.equal(ledger.total.charges, 0)
  assert.deepEqual(ledger.not_sensitive, ['sports'])
  await context.close()
})

test('storage that the browser took away counts as spent, and the page says so', async () => {
  const { page, context } = await open(chrome.browser, address)
  await ready(page)
  await agree(page)
  await told(page)
  await page.goto('about:blank')
  const other = await context.newPage()
  await other.goto(`${address}v1/reader`)
  await other.evaluate(() => new Promise((resolve) => (indexedDB.deleteDatabase('sotto-device').onsuccess = resolve)))
  await other.goto(address)
  await ready(other)
  await other.waitForFunction(() => document.querySelector('.notice').textContent.includes('lost what your device had kept'))
  await context.close()
})

test('a question that was paid for and never sent is paid for once', async () => {
  const { page, context } = await open(chrome.browser, address)
  await ready(page)
  const questions = []
  await context.route('**/v1/recommend', async (route) => {
    questions.push(route.request().postDataBuffer().toString('hex'))
    if (questions.length > 1) await route.continue() // the first never gets there: the tab is gone
  })
  await page.click('#privacy')
  await page.check('#mode-private')
  await page.check('#first-time')
  await page.click('#agree')
  while (questions.length === 0) await new Promise((resolve) => setTimeout(resolve, 20))
  await page.close({ runBeforeUnload: false })
  const again = await context.newPage()
  await again.goto(address)
  await ready(again)
  await told(again)
  await again.click('#privacy')
  assert.equal(await spent(again), '4 of 12', 'charged once')
  const last = questions.length
  assert.ok(last >= 1)
  for (const one of questions) assert.equal(one, questions[0], 'the same bytes, or none')
  await context.close()
})

test('it can be read: no serious finding of axe, in light and dark, on phones and screens', async () => {
  for (const colorScheme of ['light', 'dark']) {
    for (const width of [360, 768, 1280]) {
      const { page, context } = await open(chrome.browser, address, { colorScheme, viewport: { width, height: 900 } })
      const look = async (name) => {
        assert.deepEqual(await axe(page), [], `${name}, ${colorScheme}, ${width} px`)
        const overflow = await page.evaluate(() => document.documentElement.scrollWidth - innerWidth)
        assert.ok(overflow <= 0, `${name}: ${overflow} px beyond ${width} px`)
        if (pictures) await page.screenshot({ path: `${pictures}/reader-${name}-${width}-${colorScheme}.png` })
      }
      await ready(page)
      await look('first')
      await read(page, 'weather', 3)
      await page.goto(`${address}#/`)
      await page.waitForSelector('#source')
      await page.locator('.why').first().click()
      await page.waitForSelector('.reason p')
      await look('feed')
      await page.click('#privacy')
      await page.check('#mode-private')
      await page.waitForSelector('#agree')
      await look('consent')
      await page.check('#first-time')
      await page.click('#agree')
      await page.waitForSelector('[data-budget=day]')
      await page.locator('#left details[data-path="/v1/recommend"] summary').first().click()
      await look('panel')
      await page.keyboard.press('Escape')
      await page.goto(`${address}#/category/weather`)
      await page.locator('#content .card h2 a').nth(4).click()
      await page.waitForSelector('article')
      await look('story')
      await context.close()
    }
  }
})
