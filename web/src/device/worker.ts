// The device itself, in a worker: the page never waits for it. It holds the files in memory while it runs; every
// change is in IndexedDB, durably, before anything is sent.
//
// One device per profile: the worker that has the lock runs it, those of other tabs hand their calls to it over a
// channel, and the next of them takes over when it goes.
import { Library, type Call } from './library'
import { DeviceError, type Calls, type Failure, type FromWorker, type Name, type Recommended, type Sent, type Settings, type State, type ToWorker } from './messages'
import { Store, type Files } from './store'

interface Page {
  postMessage(message: FromWorker): void
  onmessage: ((event: MessageEvent<ToWorker>) => void) | null
}
const page = self as unknown as Page

const lockName = 'sotto-device'
const asking = 2 // SOTTO_ASKING
const answerSeconds = 60

const hex = (bytes: Uint8Array): string => Array.from(bytes, (byte) => byte.toString(16).padStart(2, '0')).join('')
const unhex = (text: string): Uint8Array => Uint8Array.from(text.match(/../g) ?? [], (pair) => parseInt(pair, 16))

const lines = (settings: Settings): string =>
  Object.entries(settings)
    .map(([name, value]) => `${name}=${value}\n`)
    .join('')

function same(a: Uint8Array | undefined, b: Uint8Array): boolean {
  if (!a || a.length !== b.length) return false
  for (let i = 0; i < b.length; ++i) if (a[i] !== b[i]) return false
  return true
}

/** What the page answers to what the worker asks of it: localStorage is out of a worker's reach. */
type OfPage = Extract<ToWorker, { kind: 'start' | 'kept' }>
let answerOfPage: (answer: OfPage) => void = () => {}
const askPage = (message: FromWorker): Promise<OfPage> =>
  new Promise((resolve) => {
    answerOfPage = resolve
    page.postMessage(message)
  })

class Device {
  private stored: Files = new Map()
  private keptAnchor = ''
  private saving: Promise<void> = Promise.resolve()
  private lastTurn: Promise<unknown> = Promise.resolve()
  private handle = 0

  private constructor(
    private readonly library: Library,
    private readonly store: Store,
    private readonly origin: string,
    private lost: boolean,
  ) {}

  static async open(library: Library, origin: string): Promise<Device> {
    const store = await Store.open()
    const files = await store.load()
    const start = await askPage({ kind: 'starting' })
    if (start.kind !== 'start') throw new Error('the page does not say how to start')
    const anchor = start.anchor ?? ''
    // Without a ledger, or without the note of how far it came, nobody knows what was told: the library then counts
    // its windows as spent. Only where there is neither was nothing ever told.
    const isFirst = files.size === 0 && anchor === ''
    const device = new Device(library, store, origin, !isFirst && (files.size === 0 || anchor === ''))
    device.stored = files
    device.keptAnchor = anchor
    library.putFiles(files)
    library.setAnchor(unhex(anchor))
    device.handle = library.open(lines(start.settings), isFirst)
    await device.save()
    return device
  }

  /** Everything that changed is durable when it resolves. */
  private save(): Promise<void> {
    this.saving = this.saving.catch(() => {}).then(() => this.saveNow())
    return this.saving
  }
  private async saveNow(): Promise<void> {
    const now = this.library.takeFiles()
    const changed: Files = new Map()
    for (const [name, content] of now) if (!same(this.stored.get(name), content)) changed.set(name, content)
    const removed = [...this.stored.keys()].filter((name) => !now.has(name))
    try {
      if (changed.size > 0 || removed.length > 0) await this.store.save(changed, removed)
      this.stored = now
      const anchor = hex(this.library.anchor())
      if (anchor !== this.keptAnchor) {
        await askPage({ kind: 'keep-anchor', anchor })
        this.keptAnchor = anchor
      }
    } catch (problem) {
      throw new DeviceError('storage', `the browser cannot keep what this device must not forget: ${String(problem)}`)
    }
  }

  private async send(call: Call): Promise<{ status: number; body: Uint8Array } | { why: string }> {
    const one: Sent = {
      time: Date.now(),
      method: call.method,
      path: call.path,
      headers: call.headers,
      body: call.body,
      meaning: call.method === 'POST' ? this.library.describe(call.body) : null,
      status: 0,
      received: 0,
    }
    one.id = await this.store.note(one)
    try {
      const answer = await fetch(this.origin + call.path, {
        method: call.method,
        headers: call.headers,
        body: call.method === 'POST' ? call.body : null,
        // Nothing that tells one reader from another travels along.
        credentials: 'omit',
        referrerPolicy: 'no-referrer',
        cache: 'no-store',
        redirect: 'error',
        signal: AbortSignal.timeout(1000 * answerSeconds),
      })
      const body = new Uint8Array(await answer.arrayBuffer())
      one.status = answer.status
      one.received = body.length
      return { status: answer.status, body }
    } catch (problem) {
      return { why: `the server was not reached: ${(problem as Error).message}` }
    } finally {
      await this.store.complete(one)
    }
  }

  /** Carries a talk out. Between what it decides and what is sent stands the disk. */
  private async carry<T>(talk: number): Promise<T> {
    try {
      while (true) {
        const step = this.library.next(talk)
        await this.save()
        if (step.kind === 'done') return JSON.parse(this.library.result(talk)) as T
        if (step.kind === 'wait') {
          await new Promise((resolve) => setTimeout(resolve, step.milliseconds))
          continue
        }
        const answer = await this.send(step)
        if ('why' in answer) this.library.lost(talk, answer.why)
        else this.library.received(talk, answer.status, answer.body)
      }
    } finally {
      this.library.free(talk)
    }
  }

  /** One after the other: what talks to servers, and what must not happen meanwhile. */
  private inTurn<T>(act: () => Promise<T>): Promise<T> {
    const turn = this.lastTurn.then(act)
    this.lastTurn = turn.catch(() => {})
    return turn
  }

  private everything(): Omit<State, 'lost'> & { clicks: State['clicks'] } {
    return JSON.parse(this.library.export(this.handle)) as State
  }

  readonly calls: { [N in Name]: (...words: Parameters<Calls[N]>) => Promise<ReturnType<Calls[N]>> } = {
    state: async () => {
      const { clicks, ledger, consent, pack } = this.everything()
      return { clicks, ledger, consent, pack, lost: this.lost }
    },
    use: (settings) =>
      this.inTurn(async () => {
        this.library.close(this.handle)
        this.handle = 0
        this.handle = this.library.open(lines(settings), false)
        await this.save()
      }),
    refresh: () => this.inTurn(() => this.carry(this.library.refresh(this.handle))),
    recommend: (count) => this.inTurn(() => this.carry(this.library.recommend(this.handle, count))),
    rankAgain: async (items, count) => JSON.parse(this.library.rankAgain(this.handle, items, count)) as Recommended,
    click: async (item) => {
      this.library.click(this.handle, item)
      await this.save()
    },
    addPage: async (shown, clicked) => {
      this.library.addPage(this.handle, shown, clicked)
      await this.save()
    },
    why: async (item) =>
      this.library.alike(
        item,
        this.everything().clicks.map((click) => click.item),
      ),
    terms: async (service, purpose) => this.library.terms(this.handle, service, purpose, asking),
    agree: async (text) => {
      this.library.agree(this.handle, text)
      await this.save()
    },
    withdraw: async () => {
      this.library.withdraw(this.handle)
      await this.save()
    },
    sent: () => this.store.sent(),
    export: async () => this.library.export(this.handle),
    forgetReading: async () => {
      this.library.forget(this.handle)
      await this.save()
    },
    erase: () =>
      this.inTurn(async () => {
        this.library.close(this.handle)
        this.handle = 0
        await this.saving.catch(() => {})
        await this.store.drop()
      }),
  }
}

// ---- one device, many tabs

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
type OverChannel = Question | Answer | { kind: 'changed' } | { kind: 'here' }

const tab = crypto.randomUUID()
const channel = new BroadcastChannel(lockName)
const waiting = new Map<number, Question>()
let device: Device | null = null
const looksOnly = new Set<Name>(['state', 'rankAgain', 'sent', 'why', 'terms', 'export'])

async function run(question: Question): Promise<Answer> {
  const { number } = question
  try {
    const call = device!.calls[question.name] as (...words: unknown[]) => Promise<unknown>
    const value = await call(...question.words)
    if (!looksOnly.has(question.name)) {
      channel.postMessage({ kind: 'changed' })
      page.postMessage({ kind: 'changed' })
    }
    return { kind: 'answer', tab: question.tab, number, value }
  } catch (problem) {
    const code = problem instanceof DeviceError ? problem.code : 'failed'
    return { kind: 'answer', tab: question.tab, number, problem: { code, message: (problem as Error).message } }
  }
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
    if (device) void run(said).then((answer) => channel.postMessage(answer))
  } else if (said.kind === 'answer') {
    if (said.tab === tab && waiting.has(said.number)) deliver(said)
  } else if (!device) {
    // Whoever has just taken the device over never heard what was asked of the tab before it.
    for (const question of waiting.values()) channel.postMessage(question)
  }
}

async function take(origin: string): Promise<void> {
  const library = await Library.load()
  const { held } = await navigator.locks.query()
  if (held?.some((lock) => lock.name === lockName)) page.postMessage({ kind: 'role', here: false })
  await navigator.locks.request(lockName, async () => {
    device = await Device.open(library, origin)
    page.postMessage({ kind: 'role', here: true })
    channel.postMessage({ kind: 'here' })
    for (const question of [...waiting.values()]) void run(question).then(deliver)
    await new Promise<never>(() => {}) // until the tab is gone
  })
}

page.onmessage = (event) => {
  const said = event.data
  if (said.kind === 'open') {
    take(said.origin).catch((problem: unknown) => {
      const code = problem instanceof DeviceError ? problem.code : 'failed'
      page.postMessage({ kind: 'failed', number: 0, code, message: (problem as Error).message })
    })
  } else if (said.kind === 'start' || said.kind === 'kept') {
    answerOfPage(said)
  } else {
    const question: Question = { kind: 'question', tab, number: said.number, name: said.name, words: said.words }
    waiting.set(said.number, question)
    if (device) void run(question).then(deliver)
    else channel.postMessage(question)
  }
}
