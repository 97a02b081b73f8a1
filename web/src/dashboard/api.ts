// The coordinator's API, as docs/rounds.md and /openapi.json describe it: the page shows nothing else.
export interface Phase {
  answered: number
  seconds: number
}

export interface Counts {
  waiting: number
  came: number
  groups_open: number
  groups_summed: number
  groups_failed: number
  /** Whose sums no honest devices could give. */
  groups_implausible: number
  grouped: number
  summed: number
  bytes_received: number
  phases: Record<string, Phase>
  last_failure: string
}

export interface Status {
  state: string
  campaign: string
  recipe: string
  purpose: string
  epsilon: number
  /** Of rounds and evaluations together: so far, and what all of them may cost a device. */
  epsilon_so_far?: number
  epsilon_in_all?: number
  delta: number
  rounds_done: number
  rounds: number
  participations: number
  population: number
  version: string
  orders_abandoned: number
  last_problem: string
  cohort: number
  group: number
  log_entries: number
  enrolled?: number
  now: Counts
  last_round: Counts
  last_round_seconds: number
  draining: boolean
  /** The store takes what must be kept. */
  stored: boolean
  /** When the order that is open was shown, and whether it measures a version instead of training; null: none is. */
  order_began: string | null
  order_evaluates: boolean
  /** The version that devices measured last; null: none was. */
  evaluation: { version: number; auc: number; noise: number; devices: number; time: string } | null
  /** What all evaluations may cost a device; absent: the campaign orders none. */
  evaluation_epsilon?: number
  /** That version ranks worse than one before it. */
  alert: string | null
  refusals: Record<string, number>
}

export interface Round extends Counts {
  round: number
  began: string
  seconds: number
  /** It measured the version of this number, and trained nothing. */
  evaluates: boolean
  abandoned: string | null
}

export interface Version {
  version: number
  model: string
  time: string
  bytes: number
  current: boolean
  /** As devices measured it, ± one standard error of the noise; null: they did not. */
  auc: number | null
  auc_noise: number | null
}

export interface Campaign {
  campaign: string
  purpose: string
  recipe: string
  state: string
  rounds: number
  epsilon: number
  delta: number
  valid_until: string
}

export interface LogPage {
  entries: { entry: number; kind: string; hash: string }[]
  size: number
  root: string
  time: string
  witnesses: number
  witnesses_needed: number
}

/** What a server that recommends said of itself when it was looked at last. Times and rates are of the last half minute. */
export interface Server {
  url: string
  /** Why it did not answer; empty: it did. */
  problem: string
  /** Seconds ago; null: never, and there is nothing else. */
  heard: number | null
  items?: number
  stored?: number
  stored_per_second?: number | null
  removed?: number
  /** That its disk did not take. */
  changes_lost?: number
  queries?: number
  queries_per_second?: number | null
  p50_ms?: number | null
  p99_ms?: number | null
  /** Since its start, by HTTP status, and 'connections'. */
  refusals?: Record<string, number>
}
export interface Serving {
  servers: Server[]
  /** Of the list of servers; empty: none. */
  problem: string
}

export interface Action {
  time: string
  action: string
  detail: string
}

/** How far the coordinator's clock is ahead of this machine's, in milliseconds; answers tell to a second. */
export const clock = { ahead: 0 }

export async function get<T>(path: string, token?: string): Promise<T> {
  const answer = await fetch(path, {
    headers: token ? { Authorization: `Bearer ${token}` } : {},
    cache: 'no-store',
    credentials: 'omit',
  })
  const told = Date.parse(answer.headers.get('Date') ?? '')
  if (!Number.isNaN(told)) clock.ahead = told - Date.now()
  const body = await answer.json().catch(() => null)
  if (!answer.ok) throw new Error(body?.error ?? `${path} answers ${answer.status}`)
  return body as T
}

/** An action of the operator. The token is sent with this request alone; no cookie ever is. */
export async function act(path: string, token: string): Promise<void> {
  const answer = await fetch(path, {
    method: 'POST',
    headers: { Authorization: `Bearer ${token}` },
    credentials: 'omit',
  })
  if (answer.ok) return
  const body = await answer.json().catch(() => null)
  throw new Error(body?.error ?? `${path} answers ${answer.status}`)
}
