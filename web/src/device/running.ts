// A device that runs in this worker: its files in memory, its talks with servers, its calls. Every change is in IndexedDB,
// durably, before anything is sent.
import { Library, type Call } from './library'
import {
  DeviceError,
  type Calls,
  type Campaign,
  type FromWorker,
  type Name,
  type Participation,
  type Recommended,
  type Scope,
  type Sent,
  type Settings,
  type State,
  type Terms,
  type Ticket,
  type ToWorker,
} from './messages'
import { Store, type Files } from './store'

const training = 1 // SOTTO_TRAINING
const asking = 2 // SOTTO_ASKING
// Where the page's own server hands on what a device says to its coordinator.
const coordinator = '/training'
const roundMessage = /^\/training\/v1\/(?:rounds\/[0-9a-f]+\/)?([a-z]+)$/
const answerSeconds = 60
const mostKept = 4096 // bytes of a body: what else an encrypted question has looks the same

interface Answer {
  status: number
  body: Uint8Array
  comeBack: string
}

const sleep = (milliseconds: number, ends?: AbortSignal): Promise<void> =>
  new Promise((resolve) => {
    const timer = setTimeout(resolve, milliseconds)
    ends?.addEventListener('abort', () => {
      clearTimeout(timer)
      resolve()
    })
  })

const hex = (bytes: Uint8Array): string => Array.from(bytes, (byte) => byte.toString(16).padStart(2, '0')).join('')
const unhex = (text: string): Uint8Array => Uint8Array.from(text.match(/../g) ?? [], (pair) => parseInt(pair, 16))

const lines = (settings: Settings): string =>
  Object.entries(settings)
    .map(([name, value]) => `${name}=${value}\n`)
    .join('')

const bits = (scope: Scope = { asking: true, training: false }): number =>
  (scope.asking ? asking : 0) | (scope.training ? training : 0)

function same(a: Uint8Array | undefined, b: Uint8Array): boolean {
  if (!a || a.length !== b.length) return false
  for (let i = 0; i < b.length; ++i) if (a[i] !== b[i]) return false
  return true
}

/** What the page answers to what the worker asks of it: localStorage is out of a worker's reach. */
export type OfPage = Extract<ToWorker, { kind: 'start' | 'kept' }>
export type AskPage = (message: FromWorker) => Promise<OfPage>

/** Of what the library says of everything that it keeps. */
type Exported = Pick<State, 'clicks' | 'label_changes' | 'ledger' | 'consent' | 'pack' | 'served_log' | 'enrolled_with'>

export class RunningDevice {
  private stored: Files = new Map()
  private keptAnchor = ''
  private saving: Promise<void> = Promise.resolve()
  private lastTurn: Promise<unknown> = Promise.resolve()
  private handle = 0
  private counts = new Map<string, Promise<void>>()
  private toCount: string[] = []
  /** The round that is under way. It takes no turn, because it takes minutes; what needs the device for itself ends it. */
  private round: { ends: AbortController; done: Promise<Participation> } | null = null

  private constructor(
    private readonly library: Library,
    private readonly store: Store,
    private readonly askPage: AskPage,
    private readonly origin: string,
    private settings: Settings,
    private lost: boolean,
  ) {}

  static async open(library: Library, origin: string, askPage: AskPage): Promise<RunningDevice> {
    const store = await Store.open()
    const files = await store.load()
    const start = await askPage({ kind: 'starting' })
    if (start.kind !== 'start') throw new Error('the page does not say how to start')
    const anchor = start.anchor ?? ''
    // Without a ledger, or without the note of how far it came, nobody knows what was told: the library then counts
    // its windows as spent. Where there is neither, somebody is here for the first time, or their browser has emptied
    // both: agree() asks which, before anything is charged.
    const isBare = files.size === 0 && anchor === ''
    const isLost = !isBare && (files.size === 0 || anchor === '')
    const device = new RunningDevice(library, store, askPage, origin, start.settings, isLost)
    device.stored = files
    for (const id of await store.counts()) device.counts.set(id, Promise.resolve())
    device.keptAnchor = anchor
    library.putFiles(files)
    library.setAnchor(unhex(anchor))
    device.handle = library.open(lines(start.settings), isBare)
    await device.save()
    return device
  }

  /** What the library knows it by, while it is open. */
  private get device(): number {
    if (this.handle === 0) throw new DeviceError('failed', 'this device is closed: load the page again')
    return this.handle
  }
  private close(): void {
    if (this.handle !== 0) this.library.close(this.handle)
    this.handle = 0
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
    const counted = this.toCount
    this.toCount = []
    const anchor = hex(this.library.anchor())
    try {
      if (changed.size > 0 || removed.length > 0 || counted.length > 0) await this.store.save(changed, removed, counted)
      this.stored = now
    } catch (problem) {
      this.toCount = [...counted, ...this.toCount]
      throw new DeviceError('storage', `the browser cannot keep what this device must not forget: ${String(problem)}`)
    }
    if (anchor === this.keptAnchor) return
    await this.askPage({ kind: 'keep-anchor', anchor })
    this.keptAnchor = anchor
  }

  /** What must count once, however often a call comes: a tab that takes the device over is asked again for what the tab
   * before it may have done. The call's id is on the disk with what it changed. */
  private once(id: string, act: () => Promise<void>): Promise<void> {
    const before = this.counts.get(id)
    if (before) return before
    const done = act()
    this.counts.set(id, done)
    return done
  }
  /** Changes what was read, under the id of the call. */
  private change(id: string, make: () => void): Promise<void> {
    make()
    this.toCount.push(id)
    return this.save()
  }

  /** ε of a question: as it was charged, which may have been before the settings changed. */
  private async epsilonOf(meaning: Sent['meaning'], body: Uint8Array): Promise<number | null> {
    if (!meaning || meaning['says'] === 'nothing') return null
    const before = (await this.store.sent()).find((one) => one.epsilon !== null && same(one.body, body))
    if (before) return before.epsilon
    return this.settings['reads'] === 'unprotected' ? 0 : Number(this.settings['epsilon'] ?? 0)
  }

  /** What a request says, as its server reads it. */
  private meaningOf(call: Call): Sent['meaning'] {
    if (call.method !== 'POST') return null
    const step = roundMessage.exec(call.path)
    return step ? { says: 'training', step: step[1] } : this.library.describe(call.body)
  }

  private async send(call: Call, ends?: AbortSignal): Promise<Answer | { why: string }> {
    const meaning = this.meaningOf(call)
    const one: Sent = {
      time: Date.now(),
      times: 1,
      method: call.method,
      path: call.path,
      headers: call.headers,
      body: call.body.slice(0, mostKept),
      size: call.body.length,
      meaning,
      epsilon: meaning?.['says'] === 'training' ? null : await this.epsilonOf(meaning, call.body),
      status: 0,
      received: 0,
    }
    one.id = await this.store.note(one)
    const given = new AbortController()
    const timer = setTimeout(() => given.abort(), 1000 * answerSeconds)
    ends?.addEventListener('abort', () => given.abort())
    try {
      if (ends?.aborted) given.abort()
      const answer = await fetch(this.origin + call.path, {
        method: call.method,
        headers: call.headers,
        body: call.method === 'POST' ? call.body : null,
        // Nothing that tells one reader from another travels along.
        credentials: 'omit',
        referrerPolicy: 'no-referrer',
        cache: 'no-store',
        redirect: 'error',
        signal: given.signal,
      })
      const body = new Uint8Array(await answer.arrayBuffer())
      one.status = answer.status
      one.received = body.length
      return { status: answer.status, body, comeBack: answer.headers.get('Sotto-Come-Back') ?? '' }
    } catch (problem) {
      return { why: `the server was not reached: ${(problem as Error).message}` }
    } finally {
      clearTimeout(timer)
      await this.store.complete(one)
    }
  }

  /** Carries a talk out, with the server of the page or what lies behind it. Between what it decides and what is sent
   * stands the disk. */
  private async carry<T>(talk: number, server = '', ends?: AbortSignal): Promise<T> {
    try {
      while (true) {
        if (ends?.aborted) throw new DeviceError('failed', 'the round was ended on this device')
        const step = this.library.next(talk)
        if (step.kind === 'wait') {
          await sleep(step.milliseconds, ends)
          continue
        }
        await this.save()
        if (step.kind === 'done') return JSON.parse(this.library.result(talk)) as T
        const answer = await this.send({ ...step, path: server + step.path }, ends)
        if ('why' in answer) this.library.lost(talk, answer.why)
        else this.library.received(talk, answer.status, answer.body, answer.comeBack)
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

  /** The same, for what no round may be under way at. */
  private alone<T>(act: () => Promise<T>): Promise<T> {
    return this.inTurn(async () => {
      await this.endRound()
      return act()
    })
  }
  private async endRound(): Promise<void> {
    this.round?.ends.abort()
    await this.round?.done.catch(() => {})
  }

  /** Opens the device again under these settings; while it is closed its files may be changed. When that cannot be it
   * goes on as it was. */
  private reopen(settings: Settings, change: () => void = () => {}): void {
    this.close()
    try {
      change()
      this.handle = this.library.open(lines(settings), false)
      this.settings = settings
    } catch (problem) {
      this.handle = this.library.open(lines(this.settings), false)
      throw problem
    }
  }

  /** One round at a time: whoever asks meanwhile hears of the same one. */
  private async train(): Promise<Participation> {
    if (this.round) return this.round.done
    const { done } = await this.inTurn(async () => {
      if (!this.round) {
        const ends = new AbortController()
        const round = { ends, done: this.trainUntil(this.library.train(this.device), ends.signal) }
        this.round = round
        const forget = () => {
          if (this.round === round) this.round = null
        }
        round.done.then(forget, forget)
      }
      return this.round
    })
    return done
  }
  private async trainUntil(talk: number, ends: AbortSignal): Promise<Participation> {
    const part = await this.carry<Participation>(talk, coordinator, ends)
    if (part.outcome === 'took part' || part.charged) await this.store.noteTrained({ ...part, time: Date.now() })
    return part
  }

  private async open(id: string, item: string): Promise<void> {
    const path = `/v1/items/${encodeURIComponent(item)}`
    const answer = await this.send({ kind: 'call', method: 'GET', path, headers: [], body: new Uint8Array() })
    if ('why' in answer) throw new DeviceError('failed', answer.why)
    if (answer.status !== 200) throw new DeviceError('failed', `the server answers ${answer.status}`)
    const article = JSON.parse(new TextDecoder().decode(answer.body)) as { vector: number[]; category: string }
    await this.change(id, () => this.library.clickOpened(this.device, item, article.vector, article.category))
  }

  private async enrol(ticket: Ticket | null): Promise<void> {
    const { token, operator_key, recovery_key } = ticket ?? (await this.trialTicket())
    await this.carry<void>(this.library.enrol(this.device, unhex(token), operator_key, recovery_key), coordinator)
  }
  /** A coordinator that tries things out gives everybody one. */
  private async trialTicket(): Promise<Ticket> {
    const path = `${coordinator}/v1/trial`
    const answer = await this.send({ kind: 'call', method: 'GET', path, headers: [], body: new Uint8Array() })
    if ('why' in answer) throw new DeviceError('failed', answer.why)
    if (answer.status !== 200) throw new DeviceError('failed', `the server answers ${answer.status}`)
    const said = JSON.parse(new TextDecoder().decode(answer.body)) as { token: string; operator_key: string }
    return { ...said, recovery_key: null }
  }

  private everything(): Exported {
    return JSON.parse(this.library.export(this.device)) as Exported
  }
  /** Nothing was charged here since the ledger began, and nothing closed its windows. */
  private isUnproven(ledger: Exported['ledger']): boolean {
    return ledger.total.charges === 0 && ledger.budgets.every((one) => !one.closed)
  }

  private async agree(text: string, first: boolean): Promise<void> {
    const terms = JSON.parse(text) as Terms
    const tells = terms.training || terms.asking_limits.ranking === 'private'
    if (tells && !first && this.isUnproven(this.everything().ledger)) {
      this.reopen(this.settings, () => this.library.removeLedger())
      await this.save()
    }
    this.library.agree(this.device, text)
    await this.save()
  }

  readonly calls: { [N in Name]: (id: string, words: Parameters<Calls[N]>) => Promise<ReturnType<Calls[N]>> } = {
    state: async () => {
      const { clicks, label_changes, ledger, consent, pack, served_log, enrolled_with } = this.everything()
      const persisted = (await navigator.storage?.persisted?.()) ?? false
      const trained = await this.store.trained()
      const unproven = this.isUnproven(ledger)
      return { clicks, label_changes, ledger, consent, enrolled_with, trained, pack, served_log, persisted, unproven, lost: this.lost }
    },
    use: (_, [settings]) =>
      this.inTurn(async () => {
        // A round goes on under the settings that it began with, where these are the same.
        if (lines(settings) === lines(this.settings)) return
        await this.endRound()
        this.reopen(settings)
        await this.save()
      }),
    refresh: () => this.inTurn(() => this.carry(this.library.refresh(this.device))),
    recommend: (_, [count]) => this.inTurn(() => this.carry(this.library.recommend(this.device, count))),
    rankAgain: async (_, [items, count]) => JSON.parse(this.library.rankAgain(this.device, items, count)) as Recommended,
    open: (id, [item]) => this.once(id, () => this.inTurn(() => this.open(id, item))),
    prepare: () => this.inTurn(() => this.carry<void>(this.library.prepare(this.device))),
    click: (id, [item]) => this.once(id, () => this.change(id, () => this.library.click(this.device, item))),
    addPage: (id, [shown, clicked]) =>
      this.once(id, () => this.change(id, () => this.library.addPage(this.device, shown, clicked))),
    why: async (_, [item]) =>
      this.library.alike(
        item,
        this.everything().clicks.map((click) => click.item),
      ),
    terms: async (_, [service, purpose, scope]) => this.library.terms(this.device, service, purpose, bits(scope)),
    agree: (_, [text, first]) => this.alone(() => this.agree(text, first ?? false)),
    withdraw: async () => {
      while (this.round) await this.endRound()
      this.library.withdraw(this.device)
      await this.save()
    },
    campaign: () => this.inTurn(() => this.carry<Campaign>(this.library.campaign(this.device), coordinator)),
    enrol: (_, [ticket]) => this.inTurn(() => this.enrol(ticket)),
    train: () => this.train(),
    sent: () => this.store.sent(),
    export: async () => this.library.export(this.device),
    forgetReading: async () => {
      this.library.forget(this.device)
      await this.save()
    },
    forgetItem: (id, [item]) => this.once(id, () => this.change(id, () => this.library.forgetItem(this.device, item))),
    erase: () =>
      this.alone(async () => {
        this.close()
        await this.saving.catch(() => {})
        await this.store.drop()
      }),
  }
}
