// What a page and its device say to each other, across the border of a worker. All of it is plain data.

/** Of the device: what is kept by name=value in `sotto device` (docs/sdk.md). */
export type Settings = Record<string, string | number | boolean>

export interface Recommended {
  source: 'fresh query' | 'repeated query' | 'expired query' | 'blind query' | 'popular' | 'local'
  note: string
  items: { id: string; score: number }[]
}

/** What a person is asked to agree to, as the library states it in a text that is given back byte by byte. */
export interface Terms {
  service: string
  purpose: string
  training: boolean
  asking: boolean
  asking_limits: { ranking: string; epsilon: number; refresh_hours: number; day_epsilon: number; month_epsilon: number }
}

export interface Budget {
  window: string
  epsilon: number
  spent: number | null
  delta: number
  closed?: string | null
}

/** One request that left, with the very bytes. */
export interface Sent {
  id?: number
  time: number
  method: string
  path: string
  headers: [string, string][]
  body: Uint8Array<ArrayBuffer>
  /** The body as the server reads it; null: there is nothing in it but the address. */
  meaning: Record<string, unknown> | null
  status: number
  received: number
}

export interface Click {
  item: string
  time: string
  categories: string[]
}

/** Everything a page draws, read at one moment. */
export interface State {
  clicks: Click[]
  ledger: LedgerStatement
  consent: Record<string, unknown> | null
  pack: string
  /** The browser lost what this device had kept, and its budgets count as spent. */
  lost: boolean
}

export interface LedgerStatement {
  records: number
  budgets: Record<string, unknown>[]
  [more: string]: unknown
}

/** What a page may ask of its device. */
export interface Calls {
  state(): State
  use(settings: Settings): void
  refresh(): { new: boolean }
  recommend(count: number): Recommended
  /** Ranks once more, by what was read meanwhile, and asks nobody. No items: the whole edition. */
  rankAgain(items: string[], count: number): Recommended
  click(item: string): void
  addPage(shown: string[], clicked: boolean[]): void
  why(item: string): { id: string; likeness: number }[]
  terms(service: string, purpose: string): string
  agree(text: string): void
  withdraw(): void
  sent(): Sent[]
  export(): string
  forgetReading(): void
  erase(): void
}

export type Name = keyof Calls

export type ToWorker =
  | { kind: 'open'; origin: string }
  | { kind: 'call'; number: number; name: Name; words: unknown[] }
  | { kind: 'start'; anchor: string | null; settings: Settings }
  | { kind: 'kept' }

export type FromWorker =
  | { kind: 'answer'; number: number; value: unknown }
  | { kind: 'failed'; number: number; code: Failure; message: string }
  /** This tab is to run the device now: the anchor is wanted, and the settings as they are at this moment. */
  | { kind: 'starting' }
  /** The anchor is to be kept outside of what IndexedDB loses. */
  | { kind: 'keep-anchor'; anchor: string }
  /** This tab has the device, or another one has. */
  | { kind: 'role'; here: boolean }
  | { kind: 'changed' }

/** wrong-use: what was asked for cannot be. failed: trying again may help. storage: nothing can be kept, so nothing is sent. */
export type Failure = 'wrong-use' | 'failed' | 'storage'

export class DeviceError extends Error {
  constructor(
    readonly code: Failure,
    message: string,
  ) {
    super(message)
  }
}
