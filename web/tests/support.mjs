// What the tests in a browser share: `sotto` as a process, and Chromium.
import { execFile, spawn } from 'node:child_process'
import { mkdtemp, rm } from 'node:fs/promises'
import { readFileSync } from 'node:fs'
import { createRequire } from 'node:module'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { createInterface } from 'node:readline'
import { chromium } from 'playwright-core'

const program = process.env.SOTTO ?? new URL('../../build/release/sotto', import.meta.url).pathname
const axeSource = readFileSync(createRequire(import.meta.url).resolve('axe-core/axe.min.js'), 'utf8')

/** `sotto play`, once its pages are there. */
export const play = (...words) => start('playing', 'play', ...words)
/** `sotto serve`, once it can be asked. */
export const serve = (...words) => start('serving', 'serve', ...words)

/** `sotto coordinator`, once devices can ask it. */
export const coordinator = (...words) => start('listening', 'coordinator', ...words)
/** `sotto fleet`, once its rounds are done. */
export const fleet = (...words) => start('done', 'fleet', ...words)

/** A command to its end. */
export const command = (...words) =>
  new Promise((resolve, reject) => {
    execFile(program, ['--quiet', ...words], (problem, _, said) => {
      if (problem) reject(new Error(`sotto ${words.join(' ')}: ${said || problem.message}`))
      else resolve()
    })
  })

/** Starts it and resolves when it says so. `stop` ends it as Ctrl-C does, which is success; otherwise it says why not. */
async function start(ready, ...words) {
  const child = spawn(program, ['--json', ...words], { stdio: ['ignore', 'pipe', 'pipe'] })
  let said = ''
  child.stderr.on('data', (bytes) => (said += bytes))
  const ended = new Promise((resolve) => child.on('exit', (code) => resolve(code)))
  const events = []
  const waiting = new Set()
  createInterface({ input: child.stdout }).on('line', (line) => {
    events.push(JSON.parse(line))
    for (const wake of waiting) wake()
  })
  const event = async (matches) => {
    while (true) {
      const found = events.find(matches)
      if (found) return found
      await Promise.race([
        new Promise((resolve) => waiting.add(resolve)),
        ended.then((code) => {
          throw new Error(`sotto ${words[0]} ended with ${code}: ${said}`)
        }),
      ])
      waiting.clear()
    }
  }
  const stop = async () => {
    child.kill('SIGINT')
    const code = await ended
    if (code !== 0) throw new Error(`sotto ${words[0]} ended with ${code}: ${said}`)
  }
  const started = await event((one) => one.event === ready)
  return { ...started, event, stop, pid: child.pid }
}

export async function browse() {
  const folder = await mkdtemp(join(tmpdir(), 'sotto-browser-'))
  const browser = await chromium.launch({
    executablePath: process.env.CHROMIUM ?? '/usr/bin/chromium',
    args: [
      '--no-sandbox',
      '--disable-gpu',
      '--disable-dev-shm-usage', // which is small in containers
      '--disable-quic',
      '--no-first-run',
      '--disable-background-networking',
      '--disable-component-update',
      '--disable-sync',
      `--disk-cache-dir=${folder}`,
    ],
  })
  return {
    browser,
    close: async () => {
      await browser.close()
      await rm(folder, { recursive: true, force: true })
    },
  }
}

/** A page that notes what it asks for and what went wrong in it. */
export async function open(browser, address, options = {}) {
  const context = await browser.newContext(options)
  const page = await context.newPage()
  const requests = []
  const problems = []
  page.on('request', (request) => requests.push(request))
  page.on('console', (message) => {
    if (message.type() === 'error') problems.push(message.text())
  })
  page.on('pageerror', (error) => problems.push(String(error)))
  await page.goto(address)
  return { page, context, requests, problems }
}

/** What axe-core finds of weight: serious and critical. */
export async function axe(page) {
  await page.evaluate(axeSource)
  const { violations } = await page.evaluate(() => globalThis.axe.run(document, { resultTypes: ['violations'] }))
  return violations
    .filter((one) => one.impact === 'serious' || one.impact === 'critical')
    .map((one) => `${one.id}: ${one.nodes.map((node) => node.target.join(' ')).join(', ')}`)
}

export const asked = async (address, headers = {}) => (await fetch(address, { headers })).json()

/** Waits until a condition holds, looking again after a moment. */
export async function until(what, holds, seconds = 60) {
  const end = Date.now() + 1000 * seconds
  while (Date.now() < end) {
    const value = await holds()
    if (value) return value
    await new Promise((resolve) => setTimeout(resolve, 50))
  }
  throw new Error(`${what}: not within ${seconds} s`)
}
