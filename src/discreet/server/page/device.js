// The visitor's device: what client.py does, in the browser. It works out the chances by itself from the epsilon that the
// task promises, in whole numbers, draws from the browser's secure randomness, counts what it has given away to all tasks of
// this site together, and keeps what was to be sent until it is acknowledged.
// The least epsilon is one over LEAST_EPSILON, as in client.py.
import { HERE } from "./dom.js";

const VERSION = 1,
  WORD = 1n << 64n,
  ONE = 1n << 256n,
  LEAST_EPSILON = 1n << 20n,
  MOST_EPSILON = 100n,
  MOST_COUNTED = 2 ** 32 - 1,
  EPOCHS_KEPT = 8,
  LONGEST_NAME = 200,
  MOST_VALUES = 2 ** 16;
const SPOKEN = ["coin", "warner", "grr"];
const KEYS = "assigned caps domain epoch_seconds epsilon kind memoize min_batch name parameters protocol seed version";
export const BUDGET = 20; // what this browser gives away in all, for all tasks of this site

export class Refused extends Error {
  constructor(message, next_step) {
    super(message);
    this.next_step = next_step;
  }
}
const unsound = (problem) => new Refused(problem, "Ask the collector for another task.");
const another = (problem) => new Refused(problem, "Use the Python client: discreet.local.Client.");

// Chances

export function fractionOf(text) {
  const [, whole, below, digits] = (typeof text === "string" && /^(\d{1,400})(?:\/(\d{1,400})|\.(\d{1,400}))?$/.exec(text)) || [];
  const [top, bottom] = digits ? [BigInt(whole + digits), 10n ** BigInt(digits.length)] : [BigInt(whole ?? 0), BigInt(below ?? 1)];
  if (top <= 0n || bottom <= 0n || top > MOST_EPSILON * bottom) throw unsound(`A task needs an epsilon between 0 and ${MOST_EPSILON}.`);
  return [top, bottom];
}

// e**epsilon in units of 2**-256, never above it: every step rounds down, and loses less than 60 digits would show.
function expBelow([top, bottom]) {
  const halvings = 16n,
    x = (ONE * top) / (bottom << halvings);
  let power = 0n;
  for (let term = ONE, i = 1n; term; i += 1n) {
    power += term;
    term = (term * x) / (ONE * i);
  }
  for (let i = 0n; i < halvings; i += 1n) power = (power * power) / ONE;
  return power;
}

// As in client.py: odds are 45 digits of e**epsilon from below; the chance to keep the truth is rounded down.
export function keepThreshold(epsilon, size, protocol = "grr") {
  const [top, bottom] = fractionOf(epsilon),
    others = BigInt(size - 1);
  if (top * LEAST_EPSILON < bottom) throw unsound(`A task needs an epsilon of at least 1/${LEAST_EPSILON}.`);
  const odds = expBelow([top, bottom]) * (10n ** 45n - 1n),
    one = ONE * 10n ** 45n;
  const keep = (WORD * odds) / (odds + others * one),
    lie = WORD - keep;
  if (!(lie > 0n && lie <= keep * others && keep * others * one <= odds * lie)) throw unsound("The epsilon is too small for so many values.");
  if (protocol !== "coin") return keep;
  if (size !== 2 || odds < 3n * one) throw unsound("Coin flips are for two values and cost epsilon ln 3, rounded up.");
  return (3n * WORD) / 4n;
}

// Coins

const secureWord = () => crypto.getRandomValues(new BigUint64Array(1))[0];

function below(bound, word) {
  const rounds = WORD - (WORD % bound);
  let drawn = word();
  while (drawn >= rounds) drawn = word();
  return drawn % bound;
}

// The truth if the first word is below `keep`, else one of the others, each as likely.
export function randomize(code, size, keep, word = secureWord) {
  const coin = word();
  if (coin < keep) return { report: code, coin };
  const other = Number(below(BigInt(size - 1), word));
  return { report: other + (other >= code ? 1 : 0), coin };
}

// Bytes

export const bitsFor = (size) => Math.max(1, 32 - Math.clz32(size - 1));
export const hex = (bytes) => Array.from(bytes, (byte) => byte.toString(16).padStart(2, "0")).join("");
const unhex = (text) => Uint8Array.from(text.match(/../g) ?? [], (pair) => parseInt(pair, 16));
const bigEndian = (number) => Uint8Array.of(number >>> 24, number >>> 16, number >>> 8, number);

export function crc32(bytes) {
  let crc = ~0;
  for (const byte of bytes) {
    crc ^= byte;
    for (let i = 0; i < 8; i += 1) crc = (crc >>> 1) ^ (crc & 1 ? 0xedb88320 : 0);
  }
  return ~crc >>> 0;
}

function packed(report, bits) {
  const bytes = Math.ceil(bits / 8);
  return bigEndian(report * 2 ** (8 * bytes - bits)).slice(4 - bytes);
}

// The parts of a message, in their order; the message is these bytes and nothing else.
export function partsOf(digest, sender, report, bits, number = crypto.getRandomValues(new Uint8Array(16))) {
  const parts = { version: Uint8Array.of(VERSION), task: digest, message: number, sender, count: bigEndian(1), payload: packed(report, bits) };
  return { ...parts, checksum: bigEndian(crc32(joined(parts))) };
}
export const joined = (parts) => Uint8Array.from(Object.values(parts).flatMap((part) => [...part]));

// Tasks: named by the hash of what they say, so that nobody can promise one epsilon and publish another

const byCodePoint = (one, other) => {
  const [a, b] = [[...one], [...other]],
    i = a.findIndex((letter, at) => letter !== b[at]);
  return i < 0 ? a.length - b.length : a[i].codePointAt(0) - (b[i]?.codePointAt(0) ?? -1);
};

export function canonical(given) {
  if (Array.isArray(given)) return `[${given.map(canonical).join(",")}]`;
  if (given !== null && typeof given === "object") {
    return `{${Object.keys(given)
      .sort(byCodePoint)
      .map((key) => `${JSON.stringify(key)}:${canonical(given[key])}`)
      .join(",")}}`;
  }
  if (typeof given === "string" && /\p{Surrogate}/u.test(given)) throw unsound("A text of the task has half a letter.");
  if (typeof given === "number" && !Number.isSafeInteger(given)) throw another("This browser cannot read the task's numbers exactly.");
  return JSON.stringify(given);
}

export async function digestOf(spec) {
  if (!globalThis.crypto?.subtle) throw another("Here this browser cannot check the task: the page did not come over https or from this machine.");
  return new Uint8Array(await crypto.subtle.digest("SHA-256", new TextEncoder().encode(canonical(spec)))).slice(0, 16);
}

export class Device {
  // `task` is what GET /v1/tasks/{id} returned; nothing in it is believed.
  static async open({ id, spec }, store = localStorage) {
    const digest = await digestOf(spec);
    if (hex(digest) !== id) throw unsound("The task is not what its number says: somebody changed it.");
    try {
      return Object.assign(new Device(), { id, spec, store, digest, ...Device.#read(spec) });
    } catch (error) {
      throw error instanceof Refused ? error : unsound("The task cannot be read.");
    }
  }

  static #read(spec) {
    if (spec.version !== VERSION || !SPOKEN.includes(spec.protocol)) throw another(`This page does not speak the protocol ${spec.protocol}.`);
    if (spec.memoize === true) throw another("This task wants answers to be remembered, which this page does not do.");
    const named = (object, keys) => Object.keys(object).sort().join(" ") === keys;
    // What the protocol does not have would only mislead about what a report costs.
    if (!named(spec, KEYS) || !named(spec.caps, "lifetime per_epoch") || !named(spec.parameters, "size"))
      throw unsound("The task has parts that its protocol does not have.");
    if (!named(spec.domain, "values") && !named(spec.domain, "range")) throw unsound("The task's values cannot be read.");
    const { size } = spec.parameters,
      { per_epoch, lifetime } = spec.caps,
      { range } = spec.domain;
    Device.#checkWords(spec);
    if (range > MOST_VALUES) throw another(`This page lists at most ${MOST_VALUES} values.`);
    const values = spec.domain.values ?? Array.from({ length: Number.isSafeInteger(range) ? range : 0 }, (_, i) => i);
    const areValues = Array.isArray(values) && values.every((value) => typeof value === "string" || Number.isSafeInteger(value));
    // With fewer outputs than values the randomizer would name some values outright.
    const areAll = Number.isSafeInteger(size) && size >= 2 && values.length === size && areValues && new Set(values.map(String)).size === size;
    if (!areAll) throw unsound("The task's values do not fit its randomizer.");
    const counts = [
      [1, per_epoch],
      [1, lifetime],
      [1, spec.min_batch],
      [0, spec.epoch_seconds],
    ];
    if (!counts.every(([least, count]) => Number.isSafeInteger(count) && count >= least && count <= MOST_COUNTED))
      throw unsound("The task's caps cannot be read.");
    return { values, keep: keepThreshold(spec.epsilon, size, spec.protocol), bits: bitsFor(size) };
  }

  static #checkWords({ name, seed, memoize, assigned }) {
    if (typeof memoize !== "boolean" || typeof assigned !== "boolean") throw unsound("A rule of the task is neither true nor false.");
    if (typeof name !== "string" || !name || [...name].length > LONGEST_NAME) throw unsound(`The name of a task has 1 to ${LONGEST_NAME} letters.`);
    if (!Number.isSafeInteger(seed) || seed < 0) throw unsound("The seed of a task is a whole number of 64 bits.");
  }

  get told() {
    return Number(this.keep) / 2 ** 64;
  }
  get other() {
    return (1 - this.told) / (this.values.length - 1);
  }

  // The browser's book: for each task its reports, the epoch of the last, its name in it, and the messages that wait.
  book() {
    try {
      return JSON.parse(this.store.getItem("discreet") ?? "{}");
    } catch {
      throw another("This browser keeps nothing, so it cannot count what it gave away.");
    }
  }

  account(book) {
    const kept = book[this.id];
    if (kept && !kept.epochs) {
      // as this page wrote it before: of one epoch only
      Object.assign(kept, { epochs: { [kept.epoch]: { reports: kept.in_epoch, sender: kept.sender } }, first_epoch: kept.epoch });
    }
    return (book[this.id] ??= { epsilon: this.spec.epsilon, reports: 0, epochs: {}, first_epoch: 0, pending: [] });
  }

  // One tab at a time reads, checks and writes the book; it is written before anything leaves.
  async change(how) {
    if (!navigator.locks) throw another("This browser cannot count in several tabs at once.");
    return navigator.locks.request("discreet", () => {
      const book = this.book(),
        made = how(book, this.account(book));
      this.store.setItem("discreet", JSON.stringify(book));
      return made;
    });
  }

  get left() {
    const book = this.book(),
      { reports } = this.account(book),
      [top, bottom] = fractionOf(this.spec.epsilon);
    const [spent, whole] = spentInAll(book),
      affordable = ((BigInt(BUDGET) * whole - spent) * bottom) / (whole * top);
    return Math.max(0, Math.min(this.spec.caps.lifetime - reports, Number(affordable)));
  }

  get reports() {
    return this.account(this.book()).reports;
  }
  get spentInAll() {
    return asNumber(spentInAll(this.book()));
  }
  get lifetimeEpsilon() {
    return asNumber(spentInAll({ all: { epsilon: this.spec.epsilon, reports: this.spec.caps.lifetime } }));
  }

  // Counted before the coins fall: who could look first and flip again would give away more than epsilon.
  count(book, account, now) {
    const caps = this.spec.caps,
      epoch = this.epoch(account, now);
    if (account.reports >= caps.lifetime) throw new Refused("This device has reached the task's lifetime cap.", "Use another device.");
    if (epoch.reports >= caps.per_epoch) throw new Refused("This device has reached the task's cap for one epoch.", "Wait for the next epoch.");
    account.reports += 1;
    epoch.reports += 1;
    const [spent, whole] = spentInAll(book);
    if (spent > BigInt(BUDGET) * whole)
      throw new Refused(`This device gives away at most ε ${BUDGET} in all, and this report would exceed it.`, "Use another device.");
    return unhex(epoch.sender);
  }

  // As in client.py: each of the last epochs has a count and a pseudonym of its own, in whichever order the clock shows them.
  epoch(account, now) {
    const { epochs, first_epoch } = account,
      seconds = this.spec.epoch_seconds,
      number = seconds ? Math.floor(now / 1000 / seconds) : 0;
    if (number < first_epoch) throw new Refused("This epoch is over for this device.", "Check the clock of the device.");
    const epoch = (epochs[number] ??= { reports: 0, sender: hex(crypto.getRandomValues(new Uint8Array(16))) });
    const [oldest, ...newer] = Object.keys(epochs)
      .map(Number)
      .sort((one, other) => one - other);
    if (newer.length >= EPOCHS_KEPT) {
      delete epochs[oldest];
      account.first_epoch = oldest + 1;
    }
    return epoch;
  }

  // A value that is not asked for is reported as one of the task's, drawn at random: silence would tell it.
  async report(value, now = Date.now()) {
    const standIn = Number(below(BigInt(this.values.length), secureWord)),
      found = this.values.indexOf(value);
    const code = found < 0 ? standIn : found;
    const sender = await this.change((book, account) => this.count(book, account, now));
    const { report, coin } = randomize(code, this.values.length, this.keep);
    const parts = partsOf(this.digest, sender, report, this.bits);
    return { value: this.values[report], report, parts, message: joined(parts), coin: Number(coin) / 2 ** 64, kept: report === found };
  }

  // What is to be sent waits in the book till the collector has it; sent again, it is the same bytes and costs nothing.
  pending() {
    return this.account(this.book()).pending.map(unhex);
  }
  keepTillSent(message) {
    return this.change((_, account) => void account.pending.push(hex(message)));
  }
  acknowledge(message) {
    return this.change((_, account) => void (account.pending = account.pending.filter((kept) => kept !== hex(message))));
  }

  // Forgotten where the collector has it, now or from before, or will never take it; else kept. Without the cookie: nothing but
  // the message says who sends it.
  async send(message) {
    const body = { method: "POST", credentials: "omit", headers: { "Content-Type": "application/octet-stream" }, body: message };
    const response = await fetch(`${HERE}/v1/tasks/${encodeURIComponent(this.id)}/reports`, body).catch(() => null);
    const facts = await response?.json().catch(() => null);
    const busy = response?.status === 429 && facts?.error?.code !== "too-many-reports";
    if (!facts || busy || response.status >= 500) {
      throw new Refused("The collector does not answer. This device keeps the report, and has counted it.", "It is sent when this page is opened again.");
    }
    await this.acknowledge(message);
    if (!response.ok && facts.error?.code !== "replayed") throw Object.assign(new Error(facts.error?.message), facts.error);
  }
}

// The sum of all tasks' reports times their epsilons, as a fraction.
function spentInAll(book) {
  return Object.values(book)
    .map(({ epsilon, reports }) => [fractionOf(epsilon), BigInt(reports)])
    .reduce(([sum, whole], [[top, bottom], reports]) => [sum * bottom + top * reports * whole, whole * bottom], [0n, 1n]);
}
const asNumber = ([top, bottom]) => Number((top * 10n ** 6n + bottom - 1n) / bottom) / 1e6; // rounded up
