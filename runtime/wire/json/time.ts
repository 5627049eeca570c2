/**
 * Timestamps in the format of RFC 3339 and durations in that of protobuf: `1972-01-01T10:00:20.021Z`, `-1.5s`. The fraction of
 * a second has 0, 3, 6 or 9 digits.
 */

/** Seconds and nanoseconds of a `Timestamp` or a `Duration`. */
export interface Instant {
  readonly seconds: bigint;
  readonly nanos: number;
}

/** 0001-01-01T00:00:00Z and 9999-12-31T23:59:59Z. */
const minTimestampSeconds = -62_135_596_800n;
const maxTimestampSeconds = 253_402_300_799n;
/** About 10,000 years. */
const maxDurationSeconds = 315_576_000_000n;

const timestamp =
  /^([0-9]{4}-[0-9]{2}-[0-9]{2})T([0-9]{2}:[0-9]{2}:[0-9]{2})(?:\.([0-9]{1,9}))?(?:Z|([+-])([0-9]{2}):([0-9]{2}))$/;
const duration = /^(-?)([0-9]{1,12})(?:\.([0-9]{1,9}))?s$/;

/** Formats a timestamp. Returns undefined if it is out of range. */
export function formatTimestamp({ seconds, nanos }: Instant): string | undefined {
  if (!isTimestamp(seconds, nanos)) return undefined;
  const whole = new Date(Number(seconds) * 1000).toISOString().slice(0, -".000Z".length);
  return `${whole}${fractionText(nanos)}Z`;
}

/** Parses a timestamp. Returns undefined if it is invalid, out of range, or a leap second. */
export function parseTimestamp(text: string): Instant | undefined {
  const found = timestamp.exec(text);
  if (found === null) return undefined;
  const [, day = "", time = "", fraction = "", sign, hours = "0", minutes = "0"] = found;
  if (hours > "23" || minutes > "59") return undefined;
  const date = new Date(`${day}T${time}Z`);
  // `Date` accepts February 30 as a day in March, and 24:00:00 as the next day. It refuses other invalid times.
  if (Number.isNaN(date.getTime()) || !date.toISOString().startsWith(day)) return undefined;
  const offset = (Number(hours) * 60 + Number(minutes)) * (sign === "-" ? -60 : 60);
  const seconds = BigInt(date.getTime() / 1000 - offset);
  const nanos = parseFraction(fraction);
  return isTimestamp(seconds, nanos) ? { seconds, nanos } : undefined;
}

/** Formats a duration. Returns undefined if it is out of range, or seconds and nanoseconds have different signs. */
export function formatDuration({ seconds, nanos }: Instant): string | undefined {
  if (!isDuration(seconds, nanos)) return undefined;
  const sign = seconds < 0n || nanos < 0 ? "-" : "";
  return `${sign}${seconds < 0n ? -seconds : seconds}${fractionText(Math.abs(nanos))}s`;
}

/** Parses a duration. Returns undefined if it is invalid or out of range. */
export function parseDuration(text: string): Instant | undefined {
  const found = duration.exec(text);
  if (found === null) return undefined;
  const [, sign, whole = "", fraction = ""] = found;
  const seconds = BigInt(sign + whole);
  const nanos = parseFraction(fraction);
  const signed = sign === "-" && nanos > 0 ? -nanos : nanos;
  return isDuration(seconds, signed) ? { seconds, nanos: signed } : undefined;
}

function isTimestamp(seconds: bigint, nanos: number): boolean {
  return seconds >= minTimestampSeconds && seconds <= maxTimestampSeconds && nanos >= 0 && nanos <= 999_999_999;
}

function isDuration(seconds: bigint, nanos: number): boolean {
  if (seconds < -maxDurationSeconds || seconds > maxDurationSeconds || Math.abs(nanos) > 999_999_999) return false;
  return (seconds <= 0n || nanos >= 0) && (seconds >= 0n || nanos <= 0);
}

/** Formats a fraction with the smallest sufficient number of digits: 0, 3, 6 or 9. */
function fractionText(nanos: number): string {
  if (nanos === 0) return "";
  const digits = String(nanos).padStart(9, "0");
  if (digits.endsWith("000000")) return `.${digits.slice(0, 3)}`;
  return digits.endsWith("000") ? `.${digits.slice(0, 6)}` : `.${digits}`;
}

/** Returns the nanoseconds of a fraction. */
function parseFraction(digits: string): number {
  return Number(digits.padEnd(9, "0"));
}
