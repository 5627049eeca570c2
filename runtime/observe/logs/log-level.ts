/** Finds the level that a line of output states, in the formats of common loggers: words, letters and JSON. */

export const logLevels = ["trace", "debug", "info", "warn", "error", "fatal"] as const;
/** The level of a line of output, from `trace`, the lowest, to `fatal`. */
export type LogLevel = (typeof logLevels)[number];

/** Number of characters that are searched for a level, which follows a time and a name at the beginning of a line. */
const SEARCHED_CHARACTERS = 80;

const word = /\b(trace|debug|info|notice|warn|warning|err|error|fatal|critical|panic)\b/i;
const json = /^\s*\{.*?"(?:level|severity)"\s*:\s*(?:"(\w+)"|(\d+))/;
/** Matches `[I 12:00:00]` and `E0312 12:00:00`, as glog and similar loggers print levels. */
const letter = /^\[?([TDIWEFC])(?:\d{4}\b|[ \]/:])/;

const words: Readonly<Record<string, LogLevel>> = {
  trace: "trace",
  debug: "debug",
  info: "info",
  notice: "info",
  warn: "warn",
  warning: "warn",
  err: "error",
  error: "error",
  fatal: "fatal",
  critical: "fatal",
  panic: "fatal",
};
const letters: Readonly<Record<string, LogLevel>> = {
  T: "trace",
  D: "debug",
  I: "info",
  W: "warn",
  E: "error",
  F: "fatal",
  C: "fatal",
};

/** @returns the level that the line states; otherwise `info` for standard output and `warn` for standard error */
export function logLevelOf(line: string, stream: "stdout" | "stderr"): LogLevel {
  const structured = json.exec(line);
  if (structured !== null) {
    const [, name, number] = structured;
    const level = number === undefined ? words[name!.toLowerCase()] : levelOfNumber(Number(number));
    if (level !== undefined) return level;
  }
  const start = line.slice(0, SEARCHED_CHARACTERS);
  const stated = words[word.exec(start)?.[1]?.toLowerCase() ?? ""] ?? letters[letter.exec(start)?.[1] ?? ""];
  return stated ?? (stream === "stdout" ? "info" : "warn");
}

/** Returns the level of a number of bunyan or pino: 10 is `trace`, 60 is `fatal`. */
function levelOfNumber(level: number): LogLevel | undefined {
  return logLevels[Math.min(Math.ceil(level / 10), logLevels.length) - 1];
}
