// What the reader has chosen: kept in this browser, the same in all its tabs.
import type { Settings } from '../device'
import type { Offer } from './edition'

export type Mode = 'local' | 'popular' | 'private'

const key = 'sotto-reader'
const mostOfOne = 10 // stories of one category on a page, as long as there are others

interface Kept {
  mode: Mode
  hidden: string[]
  erased: boolean
}

export class Choices {
  private kept: Kept = { mode: 'local', hidden: [], erased: false }

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
  /** Everything was deleted at the reader's wish, not by the browser. */
  get erased(): boolean {
    return this.kept.erased
  }
  forget(): void {
    this.kept = { mode: 'local', hidden: [], erased: true }
    localStorage.setItem(key, JSON.stringify(this.kept))
  }

  settings(offer: Offer): Settings {
    const settings: Settings = { ranking: this.mode, blocked_categories: this.hidden.join(','), wanted: 500, most_per_category: mostOfOne }
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
