/** How grave a line is, as far as it says so itself: words and JSON as the usual loggers write them. */

export const logLevels = ["trace", "debug", "info", "warn", "error", "fatal"] as const;
/** The level of a line of output, from `trace`, the lowest, to `fatal`. */
export type LogLevel = (typeof logLevels)[number];

/** A level stands near the beginning of its line, behind a time and a name. */
const SEARCHED_CHARACTERS = 80;

const word = /\b(trace|debug|info|notice|warn|warning|err|error|fatal|critical|panic)\b/i;
const json = /^\s*\{.*?"(?:level|severity)"\s*:\s*(?:"(\w+)"|(\d+))/;
/** `[I 12:00:00]`, `E0312 12:00:00`: glog and its like. */
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

/** @returns what the line says; where it says nothing, `info` for standard output and `warn` for standard error */
export function logLevelOf(line: string, stream: "stdout" | "stderr"): LogLevel {
  const structured = json.exec(line);
  if (structured !== null) {
    const [, name, number] = structured;
    const level = number === undefined ? words[name!.toLowerCase()] : levelOfNumber(Number(number));
    if (level !== undefined) return level;
  }
  const start = line.slice(0, SEARCHED_CHARACTERS);
  const said = words[word.exec(start)?.[1]?.toLowerCase() ?? ""] ?? letters[letter.exec(start)?.[1] ?? ""];
  return said ?? (stream === "stdout" ? "info" : "warn");
}

/** As bunyan and pino count: 10 is trace, 60 fatal. */
function levelOfNumber(level: number): LogLevel | undefined {
  return logLevels[Math.min(Math.ceil(level / 10), logLevels.length) - 1];
}
