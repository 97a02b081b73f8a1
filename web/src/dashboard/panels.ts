// What is drawn of each answer. Pure: from values to elements.
import { columns, lines, type Series } from '../common/charts'
import { el, share, type Child } from '../common/dom'
import { bytes, count, epsilon, seconds, shortHash } from '../common/format'
import { clock, type Action, type Campaign, type Counts, type LogPage, type Round, type Server, type Serving, type Status, type Version } from './api'
import { words } from './words'

/** A number and the call that it came from. */
function card(title: string, source: string, ...children: Child[]): HTMLElement {
  return el(
    'section',
    { class: 'card' },
    el('header', {}, el('h2', {}, title), el('a', { class: 'source mono', href: source }, source)),
    ...children,
  )
}

const big = (id: string, ...children: Child[]) => el('p', { class: 'big number', id }, ...children)
const note = (...children: Child[]) => el('p', { class: 'quiet' }, ...children)

/** How long the order that is open has been open. */
export function clockOf(status: Status): string {
  if (!status.order_began) return ''
  return seconds(Math.max(0, Math.round((Date.now() + clock.ahead - Date.parse(status.order_began)) / 1000)))
}

/** Of the groups of this round, the one that has come furthest. */
function phaseOf(status: Status): string {
  if (!status.order_began) return ''
  const reached = phaseNames.filter((phase) => (status.now.phases[phase]?.answered ?? 0) > 0).at(-1)
  const name = words.phases[reached ?? (status.now.grouped > 0 ? 'grouped' : 'came')]!
  return status.order_evaluates ? `${words.measuring}: ${name}` : name
}

/** Measured versions, oldest first. */
const measuredOf = (versions: Version[]) =>
  versions.flatMap((one) => (one.auc === null ? [] : [{ version: one.version, auc: one.auc, noise: one.auc_noise ?? 0 }]))

/** As 10⁻⁶ is written: many zeros are counted wrong. */
const delta = (value: number): string => value.toExponential().replace('e-', ' · 10⁻').replace(/\d+$/, (digits) => [...digits].map((one) => '⁰¹²³⁴⁵⁶⁷⁸⁹'[Number(one)]).join('')).replace(/^1 · /, '')

const inPercent = (value: number): string => (100 * value).toFixed(1)

function aucTile(status: Status, versions: Version[]): HTMLElement {
  const measured = measuredOf(versions)
  const last = measured.at(-1)
  const first = measured[0]
  if (!last || !first)
    return card(words.auc, '/v1/versions', big('auc', words.noAuc), note(status.evaluation_epsilon ? words.aucSoon : words.aucNever))
  const change = last.auc - first.auc
  const error = Math.hypot(last.noise, first.noise)
  return card(
    words.auc,
    '/v1/versions',
    big('auc', `${inPercent(last.auc)} %`, el('small', {}, ` ± ${inPercent(last.noise)}`)),
    note(
      words.aucOf(last.version),
      last.version !== first.version && el('span', { id: 'trend' }, ` ${words.aucTrend(inPercent(change), inPercent(error), first.version)}`),
    ),
  )
}

export function tiles(status: Status, versions: Version[]): HTMLElement[] {
  const current = versions.find((one) => one.current)
  const spent = status.epsilon_so_far ?? 0
  const all = status.epsilon_in_all ?? status.epsilon
  return [
    card(words.round, '/v1/status', big('state', status.state),
      note(
        words.roundOf(status.rounds_done, status.rounds),
        status.order_began && el('span', {}, '; ', el('span', { id: 'phase' }, phaseOf(status)), ', ', el('span', { id: 'clock' }, clockOf(status))),
      ),
    ),
    card(
      words.devices,
      '/v1/status',
      big('waiting', count(status.now.waiting), el('small', {}, ` ${words.waiting}`)),
      note(
        el('span', { id: 'enrolled' }, count(status.enrolled ?? 0)),
        ` ${words.enrolled}; ${words.wanted(status.cohort, status.group)}`,
      ),
    ),
    card(
      words.version,
      '/v1/versions',
      big('version', current ? String(current.version) : words.noVersion),
      note(current ? `${shortHash(current.model)}, ${bytes(current.bytes)}, ${current.time}` : ''),
    ),
    aucTile(status, versions),
    card(
      words.privacy,
      '/v1/status',
      big('spent', `ε ${epsilon(spent)}`, el('small', {}, ` ${words.privacyOf(epsilon(all), delta(status.delta))}`)),
      share(spent, all),
      note(words.privacyWhose(status.participations), status.evaluation_epsilon ? ` ${words.privacyParts(epsilon(status.epsilon), epsilon(status.evaluation_epsilon))}` : ''),
    ),
  ]
}

const phaseNames = ['advertising', 'sharing', 'uploading', 'confirming', 'unmasking']

/** How many devices came through each stage, and how many were lost on the way. */
export function stagesOf(counts: Counts): { name: string; devices: number }[] {
  const stages = [
    { name: 'came', devices: counts.came },
    { name: 'grouped', devices: counts.grouped },
  ]
  for (const phase of phaseNames) {
    const answered = counts.phases[phase]?.answered ?? 0
    // Only an active server asks for confirmations.
    if (phase !== 'confirming' || answered > 0) stages.push({ name: phase, devices: answered })
  }
  stages.push({ name: 'summed', devices: counts.summed })
  return stages
}

export function funnel(status: Status, rounds: Round[]): HTMLElement {
  const isNow = status.state === 'gathering'
  const counts: Counts | undefined = isNow ? status.now : rounds.filter((one) => !one.evaluates).at(-1)
  if (!counts) return card(words.lastRound, '/v1/rounds', note(words.nothingYet))
  const stages = stagesOf(counts)
  const most = Math.max(...stages.map((stage) => stage.devices), status.cohort)
  const rows = stages.map((stage, i) => {
    const before = stages[i - 1]
    const lost = before && i >= 2 && !isNow ? before.devices - stage.devices : 0
    return el(
      'tr',
      {},
      el('th', { scope: 'row' }, words.stages[stage.name] ?? stage.name),
      el('td', { class: 'number', 'data-stage': stage.name }, count(stage.devices)),
      el('td', { class: 'wide' }, share(stage.devices, most)),
      el('td', { class: 'number lost' }, lost > 0 ? words.lost(lost) : ''),
    )
  })
  return card(
    isNow ? words.nowRound : words.lastRound,
    isNow ? '/v1/status' : '/v1/rounds',
    el('table', { class: 'funnel' }, el('tbody', {}, ...rows)),
  )
}

const shown = 30

/** A card whose plot is drawn when its width is known. */
function plotCard(title: string, source: string, draw: (host: Element) => SVGElement, footnote?: string): HTMLElement {
  const host = el('div', { class: 'host' })
  const made = card(title, source, host, footnote ? note(footnote) : null)
  requestAnimationFrame(() => host.replaceChildren(draw(host)))
  return made
}

/** AUC by version, with a little room above and below what was measured. */
function aucPlot(versions: Version[]): HTMLElement[] {
  const measured = measuredOf(versions).slice(-shown)
  if (measured.length < 2) return []
  const step = 0.02
  const from = Math.floor(Math.min(...measured.map((one) => one.auc - one.noise)) / step) * step
  const to = Math.ceil(Math.max(...measured.map((one) => one.auc + one.noise)) / step) * step
  const series: Series[] = [
    { label: 'AUC', kind: 'accent', values: measured.map((one) => one.auc), errors: measured.map((one) => one.noise) },
  ]
  const names = measured.map((one) => String(one.version))
  return [
    plotCard(words.aucPlot, '/v1/versions', (host) => lines(host, names, series, { from, to }, 'version', words.aucPlot), words.aucNote),
  ]
}

export function plots(all: Round[], versions: Version[]): HTMLElement[] {
  const rounds = all.filter((one) => !one.abandoned && !one.evaluates).slice(-shown)
  if (rounds.length === 0) return aucPlot(versions)
  const names = rounds.map((one) => String(one.round))
  const phase = (one: Round, name: string) => one.phases[name]?.seconds ?? 0
  const fixed = (value: number) => Number(value.toFixed(3))
  const keys = rounds.map((one) => fixed(phase(one, 'advertising') + phase(one, 'sharing')))
  const upload = rounds.map((one) => fixed(phase(one, 'uploading') + phase(one, 'confirming')))
  const unmask = rounds.map((one) => fixed(phase(one, 'unmasking')))
  const times: Series[] = [
    { label: 'unmasking', kind: 'third', values: unmask },
    { label: 'keys and shares', kind: 'second', values: keys },
    { label: 'upload', kind: 'accent', values: upload },
  ]
  return [
    ...aucPlot(versions),
    plotCard(words.rounds, '/v1/rounds', (host) =>
      columns(host, names, [{ label: 'counted', kind: 'accent', values: rounds.map((one) => one.summed) }], 'devices', 'round', words.rounds),
    ),
    plotCard(words.times, '/v1/rounds', (host) => columns(host, names, times, 's', 'round', words.times), words.timesNote),
    plotCard(words.bytes, '/v1/rounds', (host) =>
      columns(host, names, [{ label: 'received', kind: 'second', values: rounds.map((one) => one.bytes_received / 1000) }], 'kB', 'round', words.bytes),
    ),
  ]
}

export function refusals(status: Status): HTMLElement {
  const rows = Object.entries(status.refusals).filter(([, times]) => times > 0)
  return card(
    words.refusals,
    '/metrics',
    rows.length === 0
      ? note(words.noRefusals)
      : el(
          'table',
          {},
          el(
            'tbody',
            {},
            ...rows.map(([why, times]) =>
              el('tr', {}, el('th', { scope: 'row' }, words.refusalNames[why] ?? why), el('td', { class: 'number' }, count(times))),
            ),
          ),
        ),
  )
}

const milliseconds = (value: number | null | undefined): string =>
  value == null ? words.nobodyAsked : `${Number(value.toPrecision(2))} ms`
const rate = (value: number | null | undefined): string => (value == null ? '—' : String(Number(value.toPrecision(3))))

/** One server that recommends: what it is asked, how fast it is, what it holds and refuses. */
function server(one: Server): HTMLElement {
  const row = (id: string, name: string, ...value: Child[]) =>
    el('tr', {}, el('th', { scope: 'row' }, name), el('td', { class: 'number', 'data-figure': id }, ...value))
  const refused = Object.entries(one.refusals ?? {})
  return el(
    'div',
    { class: 'server', 'data-server': one.url },
    el('h3', {}, one.heard === null ? one.url : el('a', { href: `${one.url}/metrics` }, one.url)),
    one.problem !== '' && el('p', { class: 'quiet', role: 'status' }, words.serverSilent(one.heard, one.problem)),
    one.heard !== null &&
      el(
        'table',
        {},
        el(
          'tbody',
          {},
          row('rate', words.queryRate, rate(one.queries_per_second)),
          row('queries', words.queries, count(one.queries ?? 0)),
          row('p50', words.latencyHalf, milliseconds(one.p50_ms)),
          row('p99', words.latencyMost, milliseconds(one.p99_ms)),
          row('items', words.items, count(one.items ?? 0)),
          row('stored', words.ingested, words.ingestedSince(count(one.stored ?? 0), count(one.removed ?? 0), rate(one.stored_per_second))),
          ...refused.map(([why, times]) => row(`refused-${why}`, words.serverRefuses(why), count(times))),
        ),
      ),
  )
}

export function serving({ servers, problem }: Serving): HTMLElement {
  return card(
    words.serving,
    '/v1/serving',
    problem !== '' && note(problem),
    servers.length === 0 && problem === '' ? note(words.noServers) : '',
    ...servers.map(server),
    servers.length > 0 && note(words.servingNote),
  )
}

const mostApart = 60 // seconds between two clocks

export function alertsOf(status: Status, rounds: Round[], { servers }: Serving): string[] {
  const list: string[] = []
  for (const one of servers) {
    if (one.problem !== '') list.push(words.alertServer(one.url, one.problem))
    if ((one.changes_lost ?? 0) > 0) list.push(words.alertServerDisk(one.url, one.changes_lost!))
  }
  if (status.state === 'paused') list.push(words.alertPaused)
  if (status.state === 'stopped') list.push(words.alertStopped(status.last_problem))
  if (status.state === 'waiting for witnesses') list.push(words.alertWitnesses)
  if (status.draining) list.push(words.alertDraining)
  if (!status.stored) list.push(words.alertDisk)
  if (status.alert) list.push(words.alertFell(status.alert))
  const apart = Math.round(clock.ahead / 1000)
  if (Math.abs(apart) > mostApart) list.push(words.alertClock(seconds(Math.abs(apart)), apart > 0))
  for (const one of rounds.slice(-10).reverse()) {
    const what = one.evaluates ? words.measurement(one.round) : words.roundNumber(one.round)
    if (one.groups_implausible > 0) list.push(words.alertImplausible(what, one.groups_implausible))
    if (one.abandoned) list.push(words.alertAbandoned(what, one.abandoned))
    else if (one.groups_failed > 0) list.push(words.alertGroups(what, one.groups_failed, one.last_failure))
  }
  return list
}

export function alerts(status: Status, rounds: Round[], serving: Serving): HTMLElement {
  const list = alertsOf(status, rounds, serving)
  return card(
    words.alerts,
    '/v1/rounds',
    el(
      'div',
      { role: 'status' },
      list.length === 0 ? note(words.noAlerts) : el('ul', { class: 'alerts' }, ...list.map((text) => el('li', {}, text))),
    ),
  )
}

export function versionList(versions: Version[], rollBack: ((version: number) => void) | null): HTMLElement {
  const rows = [...versions].reverse().slice(0, 12).map((one) =>
    el(
      'tr',
      { class: one.current ? 'current' : '' },
      el('th', { scope: 'row', class: 'number' }, String(one.version)),
      el('td', { class: 'mono' }, shortHash(one.model)),
      el('td', { class: 'end' },
        one.current
          ? el('span', { class: 'mark' }, words.current)
          : rollBack
            ? el('button', { type: 'button', 'aria-label': words.rollBackTo(one.version), click: () => rollBack(one.version) }, words.rollBack)
            : ''),
    ),
  )
  return card(words.versions, '/v1/versions', el('table', { id: 'versions' }, el('tbody', {}, ...rows)))
}

export function campaignList(campaigns: Campaign[]): HTMLElement {
  return card(
    words.campaigns,
    '/v1/campaigns',
    ...campaigns.map((one) =>
      el(
        'div',
        { class: 'entry' },
        el('p', {}, one.purpose, ' ', el('span', { class: 'mark' }, one.state)),
        note(`${one.recipe}, ${one.rounds} rounds, ε ${epsilon(one.epsilon)} at δ ${delta(one.delta)}, ${words.validUntil} ${one.valid_until}`),
        el('p', { class: 'mono quiet' }, shortHash(one.campaign)),
      ),
    ),
  )
}

export function logList(log: LogPage): HTMLElement {
  return card(
    words.log,
    '/v1/log/entries',
    note(words.logState(log.size, log.witnesses, log.witnesses_needed)),
    el('p', { class: 'mono quiet' }, `root ${shortHash(log.root)}, ${log.time}`),
    el(
      'ol',
      { class: 'log', reversed: true, start: log.size - 1 },
      ...[...log.entries].reverse().slice(0, 8).map((one) => el('li', {}, `${one.kind} `, el('span', { class: 'mono' }, shortHash(one.hash)))),
    ),
  )
}

export function actionList(actions: Action[]): HTMLElement {
  return el(
    'ul',
    { class: 'done' },
    ...[...actions].reverse().slice(0, 8).map((one) => el('li', {}, `${one.time}: ${one.action}${one.detail ? ` (${one.detail})` : ''}`)),
  )
}
