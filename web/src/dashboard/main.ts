// The operator's page: hears how the coordinator stands (/v1/events), and asks for the rest when that changed.
import { el } from '../common/dom'
import { themeButton } from '../common/theme'
import { Actions } from './actions'
import { get, type Campaign, type LogPage, type Round, type Serving, type Status, type Version } from './api'
import * as panels from './panels'
import { words } from './words'

const staleAfter = 15_000
const lookAtServers = 5000

class Page {
  private status: Status | null = null
  private rounds: Round[] = []
  private versions: Version[] = []
  private serving: Serving = { servers: [], problem: '' }
  private heard = 0
  private known = ''
  private readonly purpose = el('p', { class: 'quiet', id: 'purpose' })
  private readonly connection = el('p', { class: 'connection', role: 'status', id: 'connection' }, words.connecting)
  private readonly tiles = el('div', { class: 'tiles' })
  private readonly main = el('div', { class: 'main' })
  private readonly versionsPlace = el('div')
  private readonly campaignsPlace = el('div')
  private readonly logPlace = el('div')
  private readonly servingPlace = el('div')
  private readonly alertsPlace = el('div', { class: 'needs' })
  private readonly plotsPlace = el('div', { class: 'plots' })
  private readonly actions = new Actions(() => void this.refresh())

  constructor(host: Element) {
    host.replaceChildren(
      el(
        'header',
        { class: 'top' },
        el('h1', {}, words.title, ' ', el('span', { class: 'quiet' }, words.role)),
        this.purpose,
        this.connection,
        themeButton(words.theme),
      ),
      el(
        'main',
        { class: 'grid-of-cards' },
        this.tiles,
        this.alertsPlace,
        el('div', { class: 'columns' },
          el('div', { class: 'main-column' }, this.main, this.servingPlace, this.plotsPlace),
          el('div', { class: 'side' }, this.versionsPlace, this.actions.element, this.campaignsPlace, this.logPlace)),
      ),
    )
    setInterval(() => this.drawConnection(), 1000)
    addEventListener('resize', () => this.drawPlots())
    this.listen()
    void this.lookAtServers()
  }

  /** What they say changes all the time, whatever the campaign does. */
  private async lookAtServers(): Promise<void> {
    try {
      this.serving = await get<Serving>('/v1/serving')
      this.servingPlace.replaceChildren(panels.serving(this.serving))
      this.drawAlerts()
    } catch {
      // The coordinator is silent, which the page says already.
    } finally {
      setTimeout(() => void this.lookAtServers(), lookAtServers)
    }
  }

  private listen(): void {
    const events = new EventSource('/v1/events')
    events.addEventListener('status', (event) => void this.take(JSON.parse((event as MessageEvent<string>).data) as Status))
    events.addEventListener('error', () => {
      // Ends of answers look the same, and the browser asks again; it gives up only where it is told to.
      if (events.readyState === EventSource.CLOSED) setTimeout(() => this.listen(), 5000)
    })
  }

  private async take(status: Status): Promise<void> {
    this.status = status
    this.heard = Date.now()
    this.purpose.textContent = status.purpose
    const known = [status.rounds_done, status.orders_abandoned, status.log_entries, status.version, status.evaluation?.version, status.evaluation?.time, status.state === 'paused'].join(' ')
    if (known !== this.known) {
      this.known = known
      await this.refresh()
    }
    this.draw()
  }

  private async refresh(): Promise<void> {
    try {
      const [rounds, versions, campaigns, log] = await Promise.all([
        get<{ rounds: Round[] }>('/v1/rounds'),
        get<{ versions: Version[] }>('/v1/versions'),
        get<{ campaigns: Campaign[] }>('/v1/campaigns'),
        get<LogPage>('/v1/log/entries'),
      ])
      this.rounds = rounds.rounds
      this.versions = versions.versions
      const rollBack = this.actions.unlocked ? (version: number) => this.actions.rollBack(version) : null
      this.versionsPlace.replaceChildren(panels.versionList(this.versions, rollBack))
      this.campaignsPlace.replaceChildren(panels.campaignList(campaigns.campaigns))
      this.logPlace.replaceChildren(panels.logList(log))
      this.drawPlots()
    } catch (problem) {
      this.known = ''
      this.connection.textContent = words.noAnswer((problem as Error).message)
    }
  }

  private draw(): void {
    if (!this.status) return
    this.tiles.replaceChildren(...panels.tiles(this.status, this.versions))
    this.main.replaceChildren(panels.funnel(this.status, this.rounds), panels.refusals(this.status))
    this.drawAlerts()
    this.drawConnection()
  }
  private drawAlerts(): void {
    if (this.status) this.alertsPlace.replaceChildren(panels.alerts(this.status, this.rounds, this.serving))
  }

  private drawPlots(): void {
    this.plotsPlace.replaceChildren(...panels.plots(this.rounds, this.versions))
  }

  private drawConnection(): void {
    if (!this.heard) return
    const ticking = document.querySelector('#clock')
    if (ticking && this.status) ticking.textContent = panels.clockOf(this.status)
    const silent = Date.now() - this.heard
    const isStale = silent > staleAfter
    this.connection.textContent = isStale ? words.stale(Math.round(silent / 1000)) : words.live
    this.connection.classList.toggle('stale', isStale)
  }
}

new Page(document.querySelector('#page')!)
