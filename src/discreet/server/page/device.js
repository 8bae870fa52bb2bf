// The visitor's device: what client.py does, in the browser. It works out the chances by itself from the epsilon that the
// task promises, in whole numbers, draws from the browser's secure randomness, and counts what it has given away.
const VERSION = 1, WORD = 1n << 64n, ONE = 1n << 256n, MOST_EPSILON = 100n;
const SPOKEN = ["coin", "warner", "grr"];

export class Refused extends Error {
  constructor(message, next_step) { super(message); this.next_step = next_step; }
}
const unsound = (problem) => new Refused(problem, "Ask the collector for another task.");
const another = (problem) => new Refused(problem, "Use the Python client: discreet.local.Client.");

// Chances

export function fractionOf(text) {
  const [, whole, below, digits] = /^(\d{1,40})(?:\/(\d{1,40})|\.(\d{1,40}))?$/.exec(text) ?? [];
  const [top, bottom] = digits ? [BigInt(whole + digits), 10n ** BigInt(digits.length)] : [BigInt(whole ?? 0), BigInt(below ?? 1)];
  if (top <= 0n || bottom <= 0n || top > MOST_EPSILON * bottom) throw unsound(`A task needs an epsilon between 0 and ${MOST_EPSILON}.`);
  return [top, bottom];
}

// e**epsilon in units of 2**-256, never above it: every step rounds down, and loses less than 60 digits would show.
function expBelow([top, bottom]) {
  const halvings = 16n, x = (ONE * top) / (bottom << halvings);
  let power = 0n;
  for (let term = ONE, i = 1n; term; i += 1n) { power += term; term = (term * x) / (ONE * i); }
  for (let i = 0n; i < halvings; i += 1n) power = (power * power) / ONE;
  return power;
}

// As in client.py: odds are 45 digits of e**epsilon from below; the chance to keep the truth is rounded down.
export function keepThreshold(epsilon, size, protocol = "grr") {
  const odds = expBelow(fractionOf(epsilon)) * (10n ** 45n - 1n), one = ONE * 10n ** 45n;
  if (protocol !== "coin") return (WORD * odds) / (odds + BigInt(size - 1) * one);
  if (size !== 2 || odds * 10n ** 12n < 3n * (10n ** 12n - 1n) * one) throw unsound("Coin flips are for two values and cost epsilon ln 3, rounded up.");
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
  const [a, b] = [[...one], [...other]], i = a.findIndex((letter, at) => letter !== b[at]);
  return i < 0 ? a.length - b.length : a[i].codePointAt(0) - (b[i]?.codePointAt(0) ?? -1);
};

export function canonical(given) {
  if (Array.isArray(given)) return `[${given.map(canonical).join(",")}]`;
  if (given !== null && typeof given === "object") {
    return `{${Object.keys(given).sort(byCodePoint).map((key) => `${JSON.stringify(key)}:${canonical(given[key])}`).join(",")}}`;
  }
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
    if (spec.memoize) throw another("This task wants answers to be remembered, which this page does not do.");
    const { size } = spec.parameters, { per_epoch, lifetime } = spec.caps, { range } = spec.domain;
    const values = spec.domain.values ?? Array.from({ length: Math.min(range, 2 ** 16) }, (_, i) => i);
    // With fewer outputs than values the randomizer would name some values outright.
    if (!(size >= 2) || values.length !== size || new Set(values.map(String)).size !== size) throw unsound("The task's values do not fit its randomizer.");
    if (![per_epoch, lifetime, spec.epoch_seconds].every((count) => Number.isSafeInteger(count) && count >= 0)) throw unsound("The task's caps cannot be read.");
    return { values, keep: keepThreshold(spec.epsilon, size, spec.protocol), bits: bitsFor(size) };
  }

  get told() { return Number(this.keep) / 2 ** 64; }
  get other() { return (1 - this.told) / (this.values.length - 1); }

  counts() {
    const fresh = { lifetime: 0, epoch: 0, in_epoch: 0, sender: "" };
    try {
      return { ...fresh, ...JSON.parse(this.store.getItem(`discreet:${this.id}`) ?? "{}") };
    } catch {
      throw another("This browser keeps nothing, so it cannot count what it gave away.");
    }
  }

  get left() { return Math.max(0, this.spec.caps.lifetime - this.counts().lifetime); }

  // Counted, and on disk, before the coins fall: who could look first and flip again would give away more than epsilon.
  count(now = Date.now()) {
    const counts = this.counts(), caps = this.spec.caps, seconds = this.spec.epoch_seconds;
    const epoch = seconds ? Math.floor(now / 1000 / seconds) : 0, same = counts.epoch === epoch && counts.sender;
    if (counts.lifetime >= caps.lifetime || epoch < counts.epoch) throw new Refused("This device has given all it will ever give.", "Ask somebody else.");
    if (same && counts.in_epoch >= caps.per_epoch) throw new Refused("This device has given all it gives in one epoch.", "Wait for the next.");
    const sender = same ? counts.sender : hex(crypto.getRandomValues(new Uint8Array(16)));
    const next = { lifetime: counts.lifetime + 1, epoch, in_epoch: (same ? counts.in_epoch : 0) + 1, sender };
    this.store.setItem(`discreet:${this.id}`, JSON.stringify(next));
    return unhex(sender);
  }

  async report(value) {
    const code = this.values.indexOf(value);
    if (code < 0) throw new Refused("This is not one of the task's values.", "Report one of its values.");
    const sender = await (navigator.locks?.request(`discreet:${this.id}`, () => this.count()) ?? this.count());
    const { report, coin } = randomize(code, this.values.length, this.keep);
    const parts = partsOf(this.digest, sender, report, this.bits);
    return { value: this.values[report], report, parts, message: joined(parts), coin: Number(coin) / 2 ** 64, kept: report === code };
  }
}
