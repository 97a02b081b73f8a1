// What docs/browser.md says about @sotto/device: its import resolves, and its types know every call.
import assert from 'node:assert/strict'
import { execFile } from 'node:child_process'
import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { after, before, test } from 'node:test'
import { promisify } from 'node:util'

const run = promisify(execFile)
const web = new URL('..', import.meta.url).pathname
let folder, documented

before(async () => {
  const page = await readFile(new URL('../../docs/browser.md', import.meta.url), 'utf8')
  documented = page.match(/```ts\n(.*?)```/s)[1]
  assert.match(documented, /from '@sotto\/device'/)
  folder = await mkdtemp(join(web, 'documented-'))
  const settings = JSON.parse(await readFile(join(web, 'tsconfig.json'), 'utf8'))
  const include = ['program.ts', '../src/device/module.d.ts']
  await writeFile(join(folder, 'tsconfig.json'), JSON.stringify({ ...settings, include }))
})
after(() => rm(folder, { recursive: true, force: true }))

/** What the compiler says against a program; empty: nothing. */
async function complaints(program) {
  await writeFile(join(folder, 'program.ts'), program)
  return run('npx', ['tsc', '--noEmit', '--noUnusedLocals', 'false', '-p', folder], { cwd: web }).then(
    () => '',
    (problem) => problem.stdout,
  )
}

test('the program of the documents compiles as it stands', async () => {
  assert.equal(await complaints(documented), '')
})

test('its types know what can be asked, and how', async () => {
  assert.match(await complaints(documented.replace("'recommend'", "'recomend'")), /recomend/)
  assert.match(await complaints(documented.replace("call('agree', terms, true)", "call('agree', 7)")), /number/)
})
