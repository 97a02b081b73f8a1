// What everybody gets alike: the stories of the edition, and what the service offers. Fetched as a whole, page by page
// and always the same pages, so that opening or searching a story asks nobody.
export interface Story {
  id: string
  title: string
  text: string
  category: string
  published: number
}
export interface Offer {
  service: string
  /** Are encrypted questions answered? */
  blind: boolean
  epsilon: number | null
  day_epsilon: number
  month_epsilon: number
  refresh_hours: number
  /** The public log that its editions are in; null: it keeps none. */
  log: PublicLog | null
  /** Whose campaigns the page may train in; keys that are null: of a trial, which says them itself. null: of nobody. */
  training: { operator_key: string | null; recovery_key: string | null } | null
}
export interface PublicLog {
  key: string
  witnesses: string[]
  witnesses_needed: number
}

/** Oldest story first. Page `first` is the oldest of the edition. */
interface Page {
  stories: Story[]
  page: number
  first: number
}

export class Edition {
  readonly stories = new Map<string, Story>()
  /** Newest first. */
  readonly latest: Story[] = []
  categories: string[] = []
  private next = 0

  private constructor(
    newest: Page,
    readonly offer: Offer,
  ) {
    this.next = newest.page
    this.add(newest)
  }

  /** With its newest pages, of which the last one may be short. */
  static async fetch(): Promise<Edition> {
    const [newest, offer] = await Promise.all([get<Page>('/v1/stories'), get<Offer>('/v1/reader')])
    const edition = new Edition(newest, offer)
    await edition.fetchOlder()
    return edition
  }

  /** The next older page. False: the edition is whole. */
  async fetchOlder(): Promise<boolean> {
    if (this.next < 0) return false
    this.add(await get<Page>(`/v1/stories?page=${this.next}`))
    return this.next >= 0
  }

  private add(page: Page): void {
    for (const story of [...page.stories].reverse()) {
      // Pages may have moved on by a few stories in between.
      if (!this.stories.has(story.id)) this.latest.push(story)
      this.stories.set(story.id, story)
    }
    this.categories = [...new Set(this.latest.map((story) => story.category).filter((name) => name !== ''))].sort()
    this.next = page.page > page.first ? page.page - 1 : -1
  }

  of(category: string): Story[] {
    return this.latest.filter((story) => story.category === category)
  }

  /** All words of the question, anywhere in title or text. */
  search(question: string): Story[] {
    const wanted = question.toLowerCase().split(/\s+/).filter((word) => word !== '')
    return this.latest.filter((story) => {
      const text = `${story.title} ${story.text} ${story.category}`.toLowerCase()
      return wanted.every((word) => text.includes(word))
    })
  }
}

async function get<T>(path: string): Promise<T> {
  const answer = await fetch(path, { credentials: 'omit', referrerPolicy: 'no-referrer' })
  if (!answer.ok) throw new Error(`the server answers ${answer.status}`)
  return (await answer.json()) as T
}
