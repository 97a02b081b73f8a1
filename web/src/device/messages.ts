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
  training_limits: { epsilon: number; delta: number; group: number; witnesses: number; upload_bytes: number; seconds: number }
}
/** What is agreed to: to be asked, to train, or both. A later agreement takes the place of the one before. */
export interface Scope {
  asking: boolean
  training: boolean
}

/** What enrolling takes, in hexadecimal digits: a token as the operator gave it out, and whose it must be. */
export interface Ticket {
  token: string
  operator_key: string
  recovery_key: string | null
}

/** What a coordinator asks people for, before they have agreed to anything. */
export interface Campaign {
  purpose: string
  recipe: string
  /** Of all rounds that a device takes part in, and of measuring versions beside that, against the server. */
  epsilon: number
  evaluation_epsilon: number
  delta: number
  rounds: number
  participations: number
  /** Devices that sum together. */
  group: number
  upload_bytes: number
  seconds: number
}

/** What came of one offer of a round. */
export interface Participation {
  outcome: 'no round' | 'not now' | 'refused' | 'ended' | 'took part'
  /** Of a refusal: its name in docs/rounds.md, and what was wrong. */
  reason: string
  why: string
  number: number
  /** A version was measured, not trained. */
  evaluates: boolean
  charged: boolean
  bytes_up: number
  bytes_down: number
  /** By what the device found that others were shown the same; null: it refused, or there was no offer. */
  checked: {
    campaign: string
    campaign_entry: number
    model: string
    log_entries: number
    log_root: string
    witnesses: number
    witnesses_needed: number
  } | null
  /** When the coordinator wants to be asked again; null: it did not say. */
  come_back_milliseconds: number | null
}
/** One that was taken part in, or paid for. */
export interface Trained extends Participation {
  time: number
}

export interface Budget {
  window: string
  epsilon: number
  spent: number | null
  delta: number
  charges: number
  /** It counts as spent, because nobody knows what was charged. */
  closed: boolean
}

/** One request that left, with the very bytes; of an encrypted question those that it begins with. */
export interface Sent {
  id?: number
  time: number
  /** How often in a row. */
  times: number
  method: string
  path: string
  headers: [string, string][]
  body: Uint8Array<ArrayBuffer>
  /** Of the whole body; more than the body where only its beginning was kept. */
  size: number
  /** The body as the server reads it; null: there is nothing in it but the address. */
  meaning: Record<string, unknown> | null
  /** What this body tells about its reader at most, as it was charged; 0: nothing, or nothing that is protected. null:
   * of a request whose body says nothing. */
  epsilon: number | null
  status: number
  received: number
}

export interface Click {
  item: string
  time: string
  categories: string[]
}

/** The service calls an item something else than before; an empty name: no category. */
export interface LabelChange {
  item: string
  before: string
  after: string
  time: string
}

/** Everything a page draws, read at one moment. */
export interface State {
  clicks: Click[]
  label_changes: LabelChange[]
  ledger: LedgerStatement
  consent: Terms | null
  /** The operator's key that this device trains for; null: it trains for nobody. */
  enrolled_with: string | null
  /** Rounds that it took part in, newest first. */
  trained: Trained[]
  pack: string
  served_log: ServedLog | null
  /** The browser has promised not to empty this storage by itself. */
  persisted: boolean
  /** Nothing was ever charged here, and nothing says that it was: agree() has to be told whether this is the first use. */
  unproven: boolean
  /** The browser lost what this device had kept, and its budgets count as spent. */
  lost: boolean
}

export interface LedgerStatement {
  records: number
  budgets: Budget[]
  total: { charges: number; epsilon: number | null }
  not_sensitive: string[]
  purposes: { purpose: string; charges: number; free: number; epsilon: number | null }[]
}

/** The public log that editions are taken from, as far as this device has checked it; null: none is demanded. */
export interface ServedLog {
  owner: string
  entries: number
  root: string
  witnesses: number
  witnesses_needed: number
  proved: { kind: string; hash: string }[]
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
  /** Opens an item that the pack does not hold: it is fetched, so its server knows that it was opened. */
  open(item: string): void
  /** Of a device that asks blindly: fetches its guide and makes the keys of the next question. */
  prepare(): void
  addPage(shown: string[], clicked: boolean[]): void
  why(item: string): { id: string; likeness: number }[]
  /** Without a scope: to be asked. Of training the purpose is the campaign's. */
  terms(service: string, purpose: string, scope?: Scope): string
  /** first: its person says that this browser never told this service anything before. Otherwise, where nothing tells
   * what was charged, the budgets of the day and the month count as spent. */
  agree(text: string, first?: boolean): void
  withdraw(): void
  /** What is trained where the page comes from. */
  campaign(): Campaign
  /** Makes the device known there. null: to a trial, which hands out tokens itself. */
  enrol(ticket: Ticket | null): void
  /** One round, from its offer to its end, which may take minutes; other calls go on meanwhile. */
  train(): Participation
  sent(): Sent[]
  export(): string
  forgetReading(): void
  /** One read: its click, and what pages say of it. */
  forgetItem(item: string): void
  erase(): void
}

export type Name = keyof Calls

export type ToWorker =
  | { kind: 'open'; origin: string; module: string }
  | { kind: 'call'; number: number; name: Name; words: unknown[] }
  | { kind: 'start'; anchor: string | null; settings: Settings }
  | { kind: 'kept' }
  /** localStorage refuses, and says why. */
  | { kind: 'not-kept'; why: string }

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
  /** Everything was deleted, by this tab or another one. The next call begins anew. */
  | { kind: 'erased' }

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
