// What the reader has chosen: kept in this browser, the same in all its tabs.
import type { Settings } from '@sotto/device'
import type { Offer, PublicLog } from './edition'

export type Mode = 'local' | 'popular' | 'blind' | 'private' | 'released'

const key = 'sotto-reader'
const mostOfOne = 10 // stories of one category on a page, as long as there are others

/** What the person was shown of a campaign, and agreed to. */
export interface TrainingLimits {
  purpose: string
  epsilon: number
  delta: number
  upload_bytes: number
  seconds: number
}

interface Kept {
  mode: Mode
  hidden: string[]
  /** Categories whose reads may be told exactly. */
  released: string[]
  /** The service's log as it was first seen here: another one later is another list. */
  log: PublicLog | null
  /** null: the page trains for nobody. */
  training: TrainingLimits | null
  erased: boolean
}
const nothing: Kept = { mode: 'local', hidden: [], released: [], log: null, training: null, erased: false }

export class Choices {
  private kept: Kept = nothing

  constructor() {
    this.read()
  }
  read(): void {
    const text = localStorage.getItem(key)
    if (text) this.kept = { ...this.kept, ...(JSON.parse(text) as Partial<Kept>) }
  }
  private write(change: Partial<Kept>): void {
    this.kept = { ...this.kept, ...change }
    localStorage.setItem(key, JSON.stringify(this.kept))
  }
  get mode(): Mode {
    return this.kept.mode
  }
  set mode(mode: Mode) {
    this.write({ mode })
  }
  get hidden(): string[] {
    return this.kept.hidden
  }
  show(category: string, isShown: boolean): void {
    const hidden = this.kept.hidden.filter((name) => name !== category)
    this.write({ hidden: isShown ? hidden : [...hidden, category] })
  }
  get released(): string[] {
    return this.kept.released
  }
  release(category: string, isReleased: boolean): void {
    const released = this.kept.released.filter((name) => name !== category)
    this.write({ released: isReleased ? [...released, category] : released })
  }
  get training(): TrainingLimits | null {
    return this.kept.training
  }
  set training(training: TrainingLimits | null) {
    this.write({ training })
  }
  /** From the first time on, a log is demanded, and always this one. */
  demand(log: PublicLog | null): void {
    if (log && !this.kept.log) this.write({ log })
  }
  /** Everything was deleted at the reader's wish, not by the browser. */
  get erased(): boolean {
    return this.kept.erased
  }
  forget(): void {
    this.kept = { ...nothing, erased: true }
    localStorage.setItem(key, JSON.stringify(this.kept))
  }

  settings(offer: Offer): Settings {
    const isReleased = this.mode === 'released'
    const settings: Settings = {
      ranking: isReleased ? 'private' : this.mode,
      reads: isReleased ? 'unprotected' : 'everything',
      not_sensitive: this.released.join(','),
      blocked_categories: this.hidden.join(','),
      wanted: 500,
      most_per_category: mostOfOne,
    }
    const { log, training } = this.kept
    if (training) {
      settings['training_epsilon'] = training.epsilon
      settings['training_delta'] = training.delta
      settings['most_upload_bytes'] = training.upload_bytes
      settings['most_training_seconds'] = training.seconds
      // What is told by answers and by rounds counts together.
      settings['day_epsilon'] = offer.day_epsilon
      settings['month_epsilon'] = offer.month_epsilon
    }
    if (log) {
      settings['log_key'] = log.key
      settings['log_witnesses'] = log.witnesses.join(',')
      settings['log_witnesses_needed'] = log.witnesses_needed
    }
    if (offer.blind) settings['refresh_hours'] = offer.refresh_hours
    if (offer.epsilon === null) return settings
    return {
      ...settings,
      epsilon: offer.epsilon,
      refresh_hours: offer.refresh_hours,
      day_epsilon: offer.day_epsilon,
      month_epsilon: offer.month_epsilon,
    }
  }
}
