// The device as WebAssembly computes and sends what it does natively: the same bytes with the same draws, floats to
// 1e-4. Under node; no browser is needed.
import assert from 'node:assert/strict'
import { execFile } from 'node:child_process'
import { test } from 'node:test'
import { promisify } from 'node:util'

const run = promisify(execFile)
const root = new URL('../../', import.meta.url).pathname
const options = { maxBuffer: 1 << 26, cwd: root }

async function said(program, ...words) {
  const { stdout } = await run(program, words, options)
  const lines = { bytes: new Map(), floats: new Map(), time: new Map() }
  for (const line of stdout.trim().split('\n')) {
    const [kind, name, ...rest] = line.split(' ')
    lines[kind].set(name, rest)
  }
  return lines
}

test('the same bytes and numbers as the native library', async (t) => {
  const native = await said(`${root}build/release/tests/same_bytes`, 'tests/device/compatibility/2026-11/pack')
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
