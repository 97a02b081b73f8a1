// Every text of the reader's page.
import { bytes, count, epsilon } from '../common/format'

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
  line: (reads: number, left: number, size: number, sums: number, sumSize: number, opened: number) => {
    const told = []
    if (left > 0) told.push(`${plural(left, 'private number', 'private numbers')} (${bytes(size)})`)
    if (sums > 0) told.push(`masked parts of ${plural(sums, 'sum', 'sums')} (${bytes(sumSize)})`)
    if (opened > 0) told.push(`${plural(opened, 'story', 'stories')} that you opened`)
    return `Stayed on this device: ${plural(reads, 'read', 'reads')} · Left: ${told.join(', ') || 'nothing about you'}`
  },
  alsoRead: 'Open here: nobody is told',
  openedThere: 'Fetched when you opened it: the service knows that somebody did',
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
  budgetNote: (note: string): string => {
    if (note.startsWith('the budget is spent')) return words.spent
    if (note.startsWith('the budget counts as spent')) return words.countsAsSpent
    return `The private question was not asked: ${note}.`
  },
  countsAsSpent:
    'Nobody knows what this browser told before, so the budgets of this day and month count as spent. The list for everybody is ranked here.',
  /** Why the server's edition is not used; empty: it was not reached, or has nothing wrong. */
  refused: (what: string): string => {
    const isOther = /forked|entries were taken away|not signed by its owner|does not prove|is not in the log/.test(what)
    if (isOther)
      return `This service shows this browser another list of editions than it showed before, or an edition that is in no list. It may show other people other things. So its edition is not used and nothing is asked: what you read is ranked with the edition that is here. Ask the service, or compare with somebody else who reads it. “Forget me” begins anew with the list that it shows now. (${what})`
    if (/of the witnesses have cosigned/.test(what))
      return `Too few witnesses have signed the service’s list of editions yet. Until they have, its edition is not used and nothing is asked. (${what})`
    return ''
  },
  spent: 'Today’s budget is spent: the server is told nothing more about you. Its list for everybody is ranked here.',
  lost: 'This browser lost what your device had kept, perhaps to make room. Nobody knows what was told before, so the budgets of this day and month count as spent. Your page is ranked here, and nothing is asked.',
  erased: 'Everything was deleted at your wish. What was told before cannot be taken back, so the budgets of that time still count as spent.',
  noStorage: 'This browser does not let pages keep anything, so this device could forget what it told. It therefore tells nothing.',
  problem: (what: string) => `That did not work: ${what}`,
  blindNote: (what: string) => `The encrypted question was not asked: ${what}. The list for everybody is ranked here.`,

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
      blind: [
        'Encrypted questions',
        'The service ranks for you without learning anything: your question is encrypted, and so is its answer. For what you open, your device asks it by name, so that is known.',
      ],
      released: [
        'What you released',
        'The server is told exactly which group the reads are most like that you released below. Other reads are not looked at, and no budget is spent.',
      ],
      private: ['One private question', 'The server is told one number, which is wrong on purpose now and then. Your device ranks what comes back.'],
    } as Record<string, [string, string]>,
    notOffered: 'This service offers no private questions.',
    budget: 'Budgets',
    trainingOffered: 'Training: not agreed to, so nothing is spent on it.',
    noTraining: 'Training: this page trains for nobody, so nothing is spent on it.',
    trainingBudget: 'Training, in this campaign',
    ledgerNothing: 'Nothing was ever charged on this device.',
    ledgerTold: (charges: number, all: number | null) =>
      `${plural(charges, 'private answer', 'private answers')} told so far${all === null ? '' : `, together at most ${epsilon(all)}`}.`,
    ledgerFree: (free: number) => `${plural(free, 'question', 'questions')} that cost nothing.`,
    ledgerRecords: (records: number) => `${plural(records, 'line', 'lines')} in this device’s own account, each checked against the one before it.`,
    window: { day: 'Today', month: 'This month', lifetime: 'Ever' } as Record<string, string>,
    of: (spent: number, all: number) => `${epsilon(spent)} of ${epsilon(all)}`,
    closed: 'counts as spent',
    weighs: 'What left may count for more in a longer period: each is accounted in the way by which its own budget lasts longest.',
    odds: (value: number) => {
      const share = (0.1 * Math.exp(value)) / (0.9 + 0.1 * Math.exp(value))
      return `What ${epsilon(value)} means: whoever sees all of it can raise a guess about you from 1 in 10 to ${percent(share)}.`
    },
    blindBudget:
      'An encrypted question costs nothing of a budget: ε = 0, computational. Whoever sees it learns nothing about you, unless they solve a problem (ring-LWE; 128 bits by the standard’s table, 115 by one estimate) that nobody is known to be able to solve.',
    noBudget: 'No question is asked in this mode, so there is nothing to spend.',
    left: 'What left this browser',
    leftNothing: 'Nothing yet.',
    leftWhen: (when: string, size: number, times: number) => `${when} · ${bytes(size)}${times > 1 ? ` · ${count(times)} times` : ''}`,
    leftBytes: 'The bytes',
    leftMeans: 'What they mean',
    leftTells: 'What the server can conclude',
    leftBare: 'No body: the address is all.',
    leftMore: (size: number) => `and ${bytes(size)} more that look the same`,
    got: (status: number, size: number) => (status === 0 ? 'no answer came' : `answered ${status}, ${bytes(size)}`),
    stayed: 'What stayed',
    persisted: 'This browser has promised to keep it until you delete it.',
    notPersisted:
      'This browser may empty its storage by itself. Where your device can notice that, its budgets count as spent; where it cannot, it asks you.',
    stayedNothing: 'You have not opened a story yet.',
    reads: (number: number) => plural(number, 'read', 'reads'),
    delete: 'Delete',
    forgetItem: (title: string) => `Delete the read “${title}”`,
    forgetItemNote: 'A read that you delete is gone from this device, and your page is ranked without it. What was told before cannot be taken back.',
    renamed: (number: number) => `The service calls ${plural(number, 'story', 'stories')} something else than before`,
    renamedNote: 'What you read stays as protected as the most private of a story’s names asks for.',
    renamedOne: (title: string, before: string, after: string) => `${title}: ${before} before, ${after} now`,
    renamedMore: (number: number) => `and ${plural(number, 'earlier one', 'earlier ones')}, all in the file that “Save everything” gives`,
    renamedNone: 'no topic',
    hide: 'Stories you want to see',
    hideNote: 'Switches work on this device. Nobody learns what you do not want to see.',
    release: 'Topics that are not private',
    releaseNote:
      'Reads in a topic that you switch on may be told exactly, without noise and without a budget: whoever sees the answer learns what you read there, as a group of readers like you. Nothing is told by the switch itself. It counts from the next question on, in the way “What you released”, and what was told cannot be taken back.',
    releaseRead: 'I have read this',
    same: 'The same for others',
    sameLog: (entries: number, witnesses: number, needed: number) =>
      `This edition is in the service’s public list of ${plural(entries, 'entry', 'entries')}, which goes on from what this browser saw before. ${plural(witnesses, 'witness has', 'witnesses have')} signed it, ${needed} needed. Checked here:`,
    sameRoot: (root: string, owner: string) => `list ${root}, signed by ${owner}`,
    sameNoLog: 'This service keeps no public list of its editions: whether others get the same one cannot be checked here.',
    sameNoCampaign: 'No campaign: this page trains for nobody.',
    sameNoRound: 'A campaign was agreed to, and no round of it was offered yet.',
    sameCampaign: (round: number, evaluates: boolean) =>
      evaluates ? `Measured version ${round} of campaign` : `Trained in round ${round} of campaign`,
    sameCampaignLog: (entry: number, entries: number, witnesses: number, needed: number) =>
      `It is entry ${entry + 1} of ${entries} in the coordinator’s public list, which goes on from what this browser saw before; the model is in it too. ${plural(witnesses, 'witness has', 'witnesses have')} signed it, ${needed} needed. Checked here:`,
    samePack: 'Edition and model',
    sameNote: 'Its name is the hash of its bytes, checked here. Everybody who has this name has the very same edition and model.',
    yours: 'Yours to decide',
    pause: 'Stop asking',
    pauseNote: 'Withdraws your consent to questions. Reading goes on; the page is ranked here.',
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
    guide: ['The guide', 'What everybody downloads to ask encrypted questions. Your device checked that it is the one that the edition names.', 'That somebody at this network address may ask encrypted questions.'],
    question: [
      'An encrypted question',
      'Numbers that only your device can read, under a key that served once and is gone.',
      'Nothing about what you read: ε = 0, computational (ring-LWE; 128 bits by the standard’s table, 115 by one estimate). That somebody at this network address asked, and when, which a clock decides.',
    ],
    opened: ['A story that you opened', 'A request for this story by its name: what your device learns from is not in the edition.', 'That somebody at this network address opened it.'],
    campaign: ['The campaign', 'A request for what the coordinator asks of everybody.', 'That somebody at this network address looked at what is asked.'],
    order: ['Is a round open?', 'A request for the campaign, the order and the proofs of the round that is open. The same for everybody.', 'That somebody at this network address may train.'],
    log: ['The public list', 'A request for the entries that are new since this device looked last.', 'How long ago somebody at this network address looked.'],
    blob: ['A model, or its items', 'A request for what everybody trains with, named by the hash of its bytes, which was checked here.', 'That somebody at this network address may train.'],
    trial: ['An invitation', 'A request for a token, which this trial gives to everybody.', 'That somebody at this network address wants to train.'],
    enrol: ['Joining', 'A token, and a key that was made in this browser for training alone.', 'That this key belongs to somebody who was given a token. Nothing about what you read.'],
    checkin: ['Ready for a round', 'The key of this device, and which round it has read.', 'That this device takes part. It joins by the clock, so not how long it computed.'],
    advertise: ['Keys for a sum', 'Two keys that serve in this round alone.', 'Nothing about what you read.'],
    share: ['Shares for a sum', 'Pieces of this round’s secrets, encrypted for the others in the group, so that the sum can be read when somebody drops out.', 'Nothing: the server cannot read them.'],
    upload: [
      'A masked part of a sum',
      'What your device learned, clipped, with noise of its own, and masked: to the server these are random numbers.',
      'By itself nothing. Added up over the whole group the masks cancel, and the sum can be read, with the noise of all in it. What it may tell of you was charged to the training budget before it left.',
    ],
    confirm: ['Who is in the sum', 'A signature under the list of devices whose parts have arrived.', 'Nothing about what you read.'],
    reveal: ['Shares of a sum', 'Shares by which the masks of the whole sum, and of devices that dropped out, are taken away.', 'The sum over the group, with its noise. Nothing of a single part.'],
    other: ['A request', 'A request to the service.', 'What stands in it.'],
  } as Record<string, [string, string, string]>,
  privateKind: 'One private number',
  releasedKind: 'What you released',
  releasedTells: 'Exactly which group your reads are most like in the topics that you released. Nothing about other topics.',
  charged: (value: number) => `Charged: ${epsilon(value)}.`,
  prototype: (number: number, all: number) => `“I am most like group ${number}”, out of ${all} public groups of imagined readers`,
  prototypeTrue: (chance: number, others: number) =>
    `Which group you are probably most like: a device tells its true one in ${Math.round(100 * chance)} of 100 cases, and otherwise one of the ${others} others by lot. That is what the budget above pays for.`,
  weights: 'Noisy weights of public directions',
  weightsTell: 'A blurred direction of interest, within the budget above.',

  training: {
    title: 'Before anything is trained',
    asks: (service: string, purpose: string) => `${service} asks your device to learn with others: “${purpose}”.`,
    how: (group: number) =>
      `What your device learns here is masked and added up in a group of ${count(group)} devices. Only the sum can be read, and every device puts noise into it. What you read stays here.`,
    costs: (all: number, times: number) =>
      `All of it together costs at most ${epsilon(all)} of your budget: at most ${plural(times, 'round', 'rounds')} of training, and measuring what came of it.`,
    takes: (upload: number, seconds: number) =>
      `A round sends at most ${bytes(upload)} and computes for at most ${plural(seconds, 'second', 'seconds')}.`,
    known: 'The service knows that this browser takes part and in which rounds, by a key that was made for this alone.',
    token: 'Invitation of the service',
    heading: 'Train with others',
    offer: 'Your device can help to make recommendations better for everybody, without telling what you read. It is asked in a campaign that the service has signed.',
    begin: 'What is asked?',
    stop: 'Stop training',
    stopNote: 'What was added to sums before cannot be taken back. Questions are not affected.',
    waiting: 'Waits for the next round.',
    running: 'A round is under way.',
    done: (times: number) => `Took part in ${plural(times, 'round', 'rounds')}.`,
    unreached: 'The coordinator was not reached. It is asked again later.',
    /** What came of the last offer, where it was not taken part in; the text in brackets is the library's. */
    refused: (reason: string, why: string): string => {
      const said = words.training.refusals[reason]
      return said ? `${said} (${why})` : `The last round was not taken part in: ${why}.`
    },
    refusals: {
      log: 'The coordinator shows this browser another list of campaigns and models than it showed before, or one that does not hold together. It may show other people other things. So this page does not train any more, and nothing was sent. Ask the service, or compare with somebody else who trains.',
      'operator-signature':
        'The campaign is not signed by the operator that your device was enrolled with, or by a key that was replaced. So this page does not train any more, and nothing was sent. Ask the service.',
      'coordinator-signature':
        'What the coordinator offers is not signed by the coordinator that the campaign names. So this page does not train any more, and nothing was sent. Ask the service.',
      malformed: 'What the coordinator offers cannot be read as a round. Nothing was sent.',
      witnesses: 'Too few witnesses have signed the coordinator’s list of campaigns and models. Until they have, nothing is trained and nothing was sent.',
      policy: 'The campaign asks for more than you agreed to, or protects you less. So nothing is trained and nothing was sent. You can stop training, and look at what is asked now.',
      terms: 'The campaign cannot keep what it promises: your device worked it out again. Nothing was sent.',
      purpose: 'The campaign is now for something else than you agreed to. Nothing was sent. You can stop training, and look at what is asked now.',
      'unknown-recipe': 'Your device cannot train what the campaign asks for. Nothing was sent. A newer page may.',
      participations: 'Your device has taken part as often as the campaign allows.',
    } as Record<string, string>,
    spent: 'Your budget allows no further round today. Nothing was sent for this one.',
  },
  consent: {
    trainingStays: 'What you agreed to about training stays as it is.',
    title: 'Before anything is asked',
    asks: (service: string) => `${service} asks to be told one number about what you read.`,
    blind: (service: string) => `${service} is asked encrypted questions about what you read. It cannot read them: ε = 0, computational.`,
    blindOpened: 'A story that you open is fetched by its name, so the service knows that somebody opened it.',
    blindHours: (hours: number) => `It is asked once in ${hours >= 1 ? plural(Math.round(hours), 'hour', 'hours') : `${Math.round(60 * hours)} minutes`}, by the clock alone.`,
    purpose: 'A front page for you',
    limits: (one: number, hours: number) =>
      `One answer costs ${epsilon(one)} of your budget and is used for ${hours >= 1 ? plural(Math.round(hours), 'hour', 'hours') : `${Math.round(60 * hours)} minutes`}.`,
    day: (value: number) => `In a day at most ${epsilon(value)} may be spent.`,
    month: (value: number) => `In a month at most ${epsilon(value)}.`,
    released: (service: string, topics: string[]) =>
      `${service} is told exactly which group of readers your reads in ${topics.join(', ')} are most like.`,
    releasedFree: 'There is no noise in it, so it costs nothing of a budget. Reads in other topics are not looked at.',
    firstAsk: 'This browser knows nothing of earlier questions. Is it the first time that it asks this service?',
    firstTime: 'Yes, the first time: the budget is whole',
    notFirst: 'No, or I am not sure: today and this month count as spent',
    change: 'You can stop at any time. What was told cannot be taken back.',
    yes: 'I agree',
    no: 'Not now',
  },
}
