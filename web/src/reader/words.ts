// Every text of the reader's page.
import { bytes, epsilon } from '../common/format'

const plural = (number: number, one: string, many: string): string => `${number} ${number === 1 ? one : many}`
const percent = (share: number): string =>
  share > 0.999 ? 'almost certain' : share > 0.99 ? 'more than 99 in 100' : `at most ${(10 * share).toFixed(1)} in 10`

export const words = {
  theme: 'Light or dark',
  forYou: 'For you',
  latest: 'Latest',
  sections: 'Sections',
  search: 'Search',
  searchHint: 'Search this edition',
  found: (number: number, text: string) => `${plural(number, 'story', 'stories')} with “${text}”`,
  noneFound: (text: string) => `No story of this edition has “${text}” in it. The search ran on this device.`,
  loading: 'Getting today’s edition.',
  privacy: 'Privacy',
  privacyUsed: (spent: number, of: number) => `Privacy: ${epsilon(spent)} of ${epsilon(of)} today`,
  close: 'Close',
  back: 'Back',
  age: (seconds: number) => {
    if (seconds < 3600) return `${Math.max(1, Math.round(seconds / 60))} min ago`
    if (seconds < 86_400) return `${Math.round(seconds / 3600)} h ago`
    if (seconds < 30 * 86_400) return plural(Math.round(seconds / 86_400), 'day ago', 'days ago')
    return new Date(Date.now() - 1000 * seconds).toLocaleDateString('en', { day: 'numeric', month: 'short', year: 'numeric' })
  },
  line: (reads: number, left: number, size: number) =>
    `Stayed on this device: ${plural(reads, 'read', 'reads')} · Left: ${
      left === 0 ? 'nothing about you' : `${plural(left, 'private number', 'private numbers')} (${bytes(size)})`
    }`,
  alsoRead: 'Open here: nobody is told',
  why: 'Why this?',
  whyNothing: 'You have not read anything yet: this is new, and in the edition that everybody gets.',
  whyUnlike: 'Nothing that you read is much like it. It is new, and in the edition that everybody gets.',
  whyBecause: 'Because you read',
  whyNote: 'Found on this device, by comparing with what you read here.',
  elsewhere: 'Another tab of this browser runs your device. This one uses it too.',

  first: {
    title: 'Nothing is known about you',
    text: 'So these are simply the latest stories. What you open is remembered in this browser, and ranks the page for you here. No request says what you read.',
  },
  offline: 'The server was not reached. The edition on this device is ranked here.',
  spent: 'Today’s budget is spent: the server is told nothing more about you. Its list for everybody is ranked here.',
  lost: 'This browser lost what your device had kept, perhaps to make room. Nobody knows what was told before, so the budgets of this day and month count as spent. Your page is ranked here, and nothing is asked.',
  erased: 'Everything was deleted at your wish. What was told before cannot be taken back, so the budgets of that time still count as spent.',
  noStorage: 'This browser does not let pages keep anything, so this device could forget what it told. It therefore tells nothing.',
  problem: (what: string) => `That did not work: ${what}`,
  note: (what: string) => `The private question was not asked: ${what}.`,

  source: {
    local: 'Ranked here. Nothing was asked.',
    popular: 'The server’s list for everybody, ranked here.',
    'fresh query': 'Found with one private question, ranked here.',
    'repeated query': 'Found with the same private question as before, ranked here.',
    'expired query': 'Found with an earlier private question, ranked here.',
    'blind query': 'Found with an encrypted question, ranked here.',
  } as Record<string, string>,

  panel: {
    title: 'Privacy',
    mode: 'How your page is made',
    modes: {
      local: ['On this device', 'The edition that everybody gets is ranked here. Nothing about you leaves.'],
      popular: ['The list for everybody', 'The server is asked for its public list. The question is the same for all; your device ranks the answer.'],
      private: ['One private question', 'The server is told one number, which is wrong on purpose now and then. Your device ranks what comes back.'],
    } as Record<string, [string, string]>,
    notOffered: 'This service offers no private questions.',
    budget: 'Budget for questions',
    window: { day: 'Today', month: 'This month', lifetime: 'Ever' } as Record<string, string>,
    of: (spent: number, all: number) => `${epsilon(spent)} of ${epsilon(all)}`,
    closed: 'counts as spent',
    odds: (value: number) => {
      const share = (0.1 * Math.exp(value)) / (0.9 + 0.1 * Math.exp(value))
      return `What ${epsilon(value)} means: whoever sees all of it can raise a guess about you from 1 in 10 to ${percent(share)}.`
    },
    noBudget: 'No question is asked in this mode, so there is nothing to spend.',
    left: 'What left this browser',
    leftNothing: 'Nothing yet.',
    leftBytes: 'The bytes',
    leftMeans: 'What they mean',
    leftTells: 'What the server can conclude',
    leftBare: 'No body: the address is all.',
    got: (status: number, size: number) => (status === 0 ? 'no answer came' : `answered ${status}, ${bytes(size)}`),
    stayed: 'What stayed',
    stayedNothing: 'You have not opened a story yet.',
    reads: (number: number) => plural(number, 'read', 'reads'),
    hide: 'Stories you want to see',
    hideNote: 'Switches work on this device. Nobody learns what you do not want to see.',
    same: 'The same for others',
    samePack: 'Edition and model',
    sameNote: 'Its name is the hash of its bytes, checked here. Everybody who has this name has the very same edition and model.',
    yours: 'Yours to decide',
    pause: 'Stop asking',
    pauseNote: 'Withdraws your consent. Reading goes on; the page is ranked here.',
    export: 'Save everything as a file',
    forgetReading: 'Forget what I read',
    forgetReadingNote: 'Deletes reads and answers. The account of what was told stays, so that nobody can ask twice.',
    erase: 'Forget me',
    eraseNote:
      'Deletes everything in this browser: reads, answers, consent, the account of what was told. What servers were already told cannot be taken back. Only a note of 100 bytes stays, so that deleting brings no budget back.',
    eraseSure: 'Delete everything now',
    cancel: 'Keep it',
  },
  kinds: {
    pack: ['Today’s edition', 'A request for the public edition and its model, the same for everybody. It names the edition that is here already.', 'That somebody at this network address opened the page.'],
    popular: ['The list for everybody', 'A request for the public list. There is nothing about you in it.', 'That somebody at this network address asked for a page.'],
    other: ['A request', 'A request to the service.', 'What stands in it.'],
  } as Record<string, [string, string, string]>,
  privateKind: 'One private number',
  prototype: (number: number, all: number) => `“I am most like group ${number}”, out of ${all} public groups of imagined readers`,
  prototypeTrue: (chance: number, others: number) =>
    `Which group you are probably most like: a device tells its true one in ${Math.round(100 * chance)} of 100 cases, and otherwise one of the ${others} others by lot. That is what the budget above pays for.`,
  weights: 'Noisy weights of public directions',
  weightsTell: 'A blurred direction of interest, within the budget above.',

  consent: {
    title: 'Before anything is asked',
    asks: (service: string) => `${service} asks to be told one number about what you read.`,
    purpose: 'A front page for you',
    limits: (one: number, hours: number) =>
      `One answer costs ${epsilon(one)} of your budget and is used for ${hours >= 1 ? plural(Math.round(hours), 'hour', 'hours') : `${Math.round(60 * hours)} minutes`}.`,
    day: (value: number) => `In a day at most ${epsilon(value)} may be spent.`,
    month: (value: number) => `In a month at most ${epsilon(value)}.`,
    change: 'You can stop at any time. What was told cannot be taken back.',
    yes: 'I agree',
    no: 'Not now',
  },
}
