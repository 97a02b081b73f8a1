// The worker: the page never waits for what the device computes.
//
// One device per profile: the worker that has the lock runs it, those of other tabs hand their calls to it over a
// channel, and the next of them takes over when it goes.
import { Library } from './library'
import { DeviceError, type Failure, type FromWorker, type Name, type ToWorker } from './messages'
import { RunningDevice, type OfPage } from './running'

interface Page {
  postMessage(message: FromWorker): void
  onmessage: ((event: MessageEvent<ToWorker>) => void) | null
}
const page = self as unknown as Page

const lockName = 'sotto-device'

let answerOfPage: { take(answer: OfPage): void; refuse(problem: Error): void } | null = null
const askPage = (message: FromWorker): Promise<OfPage> =>
  new Promise((take, refuse) => {
    answerOfPage = { take, refuse }
    page.postMessage(message)
  })

interface Question {
  kind: 'question'
  tab: string
  number: number
  name: Name
  words: unknown[]
}
interface Answer {
  kind: 'answer'
  tab: string
  number: number
  value?: unknown
  problem?: { code: Failure; message: string }
}
type OverChannel = Question | Answer | { kind: 'changed' } | { kind: 'here' } | { kind: 'erased' }

const tab = crypto.randomUUID()
const channel = new BroadcastChannel(lockName)
const waiting = new Map<number, Question>()
let device: RunningDevice | null = null
let opening: { origin: string; module: string } = { origin: '', module: '' }
/** While this tab has the device, or waits for it. */
let taking: AbortController | null = null
let letGo: () => void = () => {}
const looksOnly = new Set<Name>(['state', 'rankAgain', 'sent', 'why', 'terms', 'export'])

async function run(question: Question): Promise<Answer> {
  const { number } = question
  try {
    const call = device!.calls[question.name] as (id: string, words: unknown[]) => Promise<unknown>
    const value = await call(`${question.tab} ${number}`, question.words)
    if (!looksOnly.has(question.name) && question.name !== 'erase') {
      channel.postMessage({ kind: 'changed' })
      page.postMessage({ kind: 'changed' })
    }
    return { kind: 'answer', tab: question.tab, number, value }
  } catch (problem) {
    const code = problem instanceof DeviceError ? problem.code : 'failed'
    return { kind: 'answer', tab: question.tab, number, problem: { code, message: (problem as Error).message } }
  }
}

async function runFor(question: Question, answer: (said: Answer) => void): Promise<void> {
  const said = await run(question)
  answer(said)
  if (question.name === 'erase' && !said.problem) await endErased()
}

/** The device is gone, in all tabs: whoever is asked for something next begins anew. */
async function endErased(): Promise<void> {
  device = null
  channel.postMessage({ kind: 'erased' })
  // Nobody may take over what nobody asks for: tabs that wait for the lock give up first, when they have heard.
  const end = Date.now() + 1000
  while (Date.now() < end) {
    const { pending } = await navigator.locks.query()
    if (!pending?.some((lock) => lock.name === lockName)) break
    await new Promise((resolve) => setTimeout(resolve, 10))
  }
  taking = null
  letGo()
  hearErased()
}

function hearErased(): void {
  for (const { number } of [...waiting.values()])
    deliver({ kind: 'answer', tab, number, problem: { code: 'failed', message: 'everything was deleted meanwhile' } })
  page.postMessage({ kind: 'erased' })
}

function deliver(answer: Answer): void {
  waiting.delete(answer.number)
  if (answer.problem) page.postMessage({ kind: 'failed', number: answer.number, ...answer.problem })
  else page.postMessage({ kind: 'answer', number: answer.number, value: answer.value })
}

channel.onmessage = (event: MessageEvent<OverChannel>) => {
  const said = event.data
  if (said.kind === 'changed') page.postMessage({ kind: 'changed' })
  else if (said.kind === 'question') {
    if (device) void runFor(said, (answer) => channel.postMessage(answer))
  } else if (said.kind === 'answer') {
    if (said.tab === tab && waiting.has(said.number)) deliver(said)
  } else if (said.kind === 'erased') {
    taking?.abort()
    taking = null
    hearErased()
  } else if (!device) {
    // Whoever has just taken the device over never heard what was asked of the tab before it.
    for (const question of waiting.values()) channel.postMessage(question)
  }
}

async function take(signal: AbortSignal): Promise<void> {
  const library = await Library.load(opening.module)
  const { held } = await navigator.locks.query()
  if (held?.some((lock) => lock.name === lockName)) page.postMessage({ kind: 'role', here: false })
  await navigator.locks.request(lockName, { signal }, async () => {
    device = await RunningDevice.open(library, opening.origin, askPage)
    page.postMessage({ kind: 'role', here: true })
    channel.postMessage({ kind: 'here' })
    for (const question of [...waiting.values()]) void runFor(question, deliver)
    await new Promise<void>((resolve) => (letGo = resolve)) // until the tab is gone, or the device
  })
}

function begin(): void {
  const mine = new AbortController()
  taking = mine
  take(mine.signal).catch((problem: unknown) => {
    if (mine.signal.aborted) return
    taking = null
    const code = problem instanceof DeviceError ? problem.code : 'failed'
    page.postMessage({ kind: 'failed', number: 0, code, message: (problem as Error).message })
  })
}

page.onmessage = (event) => {
  const said = event.data
  if (said.kind === 'open') {
    opening = said
    begin()
  } else if (said.kind === 'start' || said.kind === 'kept') {
    answerOfPage?.take(said)
  } else if (said.kind === 'not-kept') {
    answerOfPage?.refuse(new DeviceError('storage', `the browser cannot keep what this device must not forget: ${said.why}`))
  } else {
    const question: Question = { kind: 'question', tab, number: said.number, name: said.name, words: said.words }
    waiting.set(said.number, question)
    if (!taking) begin()
    if (device) void runFor(question, deliver)
    else channel.postMessage(question)
  }
}
