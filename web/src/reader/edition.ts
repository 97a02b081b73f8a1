// What everybody gets alike: the stories of the edition, and what the service offers. Fetched as a whole, so that
// opening or searching a story asks nobody.
export interface Story {
  id: string
  title: string
  text: string
  category: string
  published: number
}
export interface Offer {
  service: string
  epsilon: number | null
  day_epsilon: number
  month_epsilon: number
  refresh_hours: number
}

export class Edition {
  readonly stories = new Map<string, Story>()
  readonly latest: Story[]
  readonly categories: string[]

  private constructor(
    list: Story[],
    readonly offer: Offer,
  ) {
    for (const story of list) this.stories.set(story.id, story)
    this.latest = [...list].sort((a, b) => b.published - a.published || a.id.localeCompare(b.id))
    this.categories = [...new Set(list.map((story) => story.category).filter((name) => name !== ''))].sort()
  }

  static async fetch(): Promise<Edition> {
    const [stories, offer] = await Promise.all([get<{ stories: Story[] }>('/v1/stories'), get<Offer>('/v1/reader')])
    return new Edition(stories.stories, offer)
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
