// The device as WebAssembly computes and sends what it does natively: the same bytes with the same draws, floats to
// 1e-4. Under node, and in Chromium, which must keep to its time.
import assert from 'node:assert/strict'
import { execFile } from 'node:child_process'
import { readFile } from 'node:fs/promises'
import { createServer } from 'node:http'
import { test } from 'node:test'
import { promisify } from 'node:util'
import { browse } from '../tests/support.mjs'

const run = promisify(execFile)
const root = new URL('../../', import.meta.url).pathname
const options = { maxBuffer: 1 << 26, cwd: root }

async function said(program, ...words) {
  const { stdout } = await run(program, words, options)
  return read(stdout.trim().split('\n'))
}

function read(said) {
  const lines = { bytes: new Map(), floats: new Map(), time: new Map() }
  for (const line of said) {
    const [kind, name, ...rest] = line.split(' ')
    lines[kind].set(name, rest)
  }
  return lines
}

/** The program in a worker of a page, once it has said as many lines as are expected. */
async function inChromium(lines) {
  const files = { '/same_bytes.cjs': 'text/javascript', '/same_bytes.wasm': 'application/wasm' }
  const worker = `self.Module = { arguments: ['/pack'], print: (line) => postMessage(line) }; importScripts('/same_bytes.cjs')`
  const server = createServer(async ({ url }, answer) => {
    answer.setHeader('Content-Type', files[url] ?? (url === '/' ? 'text/html' : 'text/javascript'))
    if (url === '/') answer.end('<title>same bytes</title>')
    else if (url === '/worker.js') answer.end(worker)
    else if (files[url]) answer.end(await readFile(`${root}build/wasm/cmake/bin${url}`))
    else answer.writeHead(404).end() // as the icon that browsers ask for by themselves
  })
  await new Promise((resolve) => server.listen(0, '127.0.0.1', resolve))
  const { browser, close } = await browse()
  try {
    const page = await browser.newPage()
    await page.goto(`http://127.0.0.1:${server.address().port}/`)
    const said = await page.evaluate(
      (wanted) =>
        new Promise((resolve, reject) => {
          const lines = []
          const worker = new Worker('/worker.js')
          worker.onerror = (event) => reject(new Error(event.message))
          worker.onmessage = ({ data }) => {
            lines.push(data)
            if (lines.length === wanted) resolve(lines)
          }
        }),
      lines,
    )
    return read(said)
  } finally {
    await close()
    server.close()
  }
}

const natively = () => said(`${root}build/release/tests/same_bytes`, 'tests/device/compatibility/2026-11/pack')

// Milliseconds that a reader's device may take, on two cores that nobody else keeps busy: said, and not asserted.
const budgets = { 'train/sotto': 50, 'train/efficient-fedrec': 1000, 'upload/fifty': 500 }

test('the same bytes and numbers in Chromium too', async (t) => {
  const native = await natively()
  const wasm = await inChromium(native.bytes.size + native.floats.size + native.time.size)
  for (const [name, bytes] of native.bytes) assert.deepEqual(wasm.bytes.get(name), bytes, name)
  for (const [name, numbers] of native.floats) {
    const others = wasm.floats.get(name).map(Number)
    numbers.forEach((text, place) => {
      const apart = Math.abs(Number(text) - others[place]) / Math.max(1, Math.abs(Number(text)))
      assert.ok(apart <= 1e-4, `${name}[${place}]: ${text} natively, ${others[place]} in Chromium`)
    })
  }
  for (const [name, most] of Object.entries(budgets)) {
    const took = Number(wasm.time.get(name)[0])
    t.diagnostic(`${name}: ${took} ms in Chromium, wanted at most ${most}`)
  }
})

test('the same bytes and numbers as the native library', async (t) => {
  const native = await natively()
  // Debian's emscripten looks for files by require where node has a fetch of its own.
  const wasm = await said('node', '--no-experimental-fetch', `${root}build/wasm/cmake/bin/same_bytes.cjs`, '/pack')
  assert.ok(native.bytes.size >= 15 && native.floats.size >= 10, 'there is something to compare')
  assert.deepEqual([...wasm.bytes.keys()], [...native.bytes.keys()])
  for (const [name, bytes] of native.bytes) assert.deepEqual(wasm.bytes.get(name), bytes, name)
  assert.deepEqual([...wasm.floats.keys()], [...native.floats.keys()])
  let furthest = 0
  for (const [name, numbers] of native.floats) {
    const others = wasm.floats.get(name).map(Number)
    assert.equal(others.length, numbers.length, name)
    numbers.forEach((text, place) => {
      const apart = Math.abs(Number(text) - others[place]) / Math.max(1, Math.abs(Number(text)))
      furthest = Math.max(furthest, apart)
      assert.ok(apart <= 1e-4, `${name}[${place}]: ${text} natively, ${others[place]} as WebAssembly`)
    })
  }
  t.diagnostic(`${native.bytes.size} equal byte strings, ${native.floats.size} rows of floats at most ${furthest.toExponential(1)} apart`)
  for (const [name, [milliseconds]] of wasm.time)
    t.diagnostic(`${name}: ${milliseconds} ms as WebAssembly, ${native.time.get(name)[0]} ms natively`)
})
