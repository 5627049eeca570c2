/**
 * Selects the Node.js options of this process that its children inherit: all (loaders, conditions, memory limits,
 * flags) except those that concern only this process: test run, debugger, watch mode and script text.
 */

/** Options that are dropped together with their value, which is the next argument. */
const dropWithValue = new Set([
  "-e",
  "--eval",
  "-p",
  "--print",
  "-pe",
  "--input-type",
  "--inspect-port",
  "--debug-port",
  "--inspect-publish-uid",
  "--watch-path",
  "--watch-kill-signal",
  "--test-name-pattern",
  "--test-skip-pattern",
  "--test-reporter",
  "--test-reporter-destination",
  "--test-concurrency",
  "--test-shard",
  "--test-timeout",
  "--test-isolation",
  "--test-global-setup",
  "--test-coverage-include",
  "--test-coverage-exclude",
  "--test-coverage-branches",
  "--test-coverage-functions",
  "--test-coverage-lines",
]);
const dropAlone = new Set(["-i", "--interactive", "-c", "--check", "--experimental-test-coverage"]);
const dropPattern = /^--(?:test|inspect|watch|eval|print|input-type|debug-port)(?:[-=]|$)/;

/** @returns the options of `execArgv` that a child process inherits, in order */
export function inheritedExecArgv(execArgv: readonly string[]): string[] {
  const kept: string[] = [];
  for (let i = 0; i < execArgv.length; i++) {
    const option = execArgv[i]!;
    if (dropWithValue.has(option)) i++;
    else if (!dropAlone.has(option) && !dropPattern.test(option)) kept.push(option);
  }
  return kept;
}

/** @returns `NODE_OPTIONS` without the options that a child must not inherit */
export function inheritedNodeOptions(options: string): string {
  return options
    .split(/(?<=\s)(?=-)/)
    .filter((option) => !dropPattern.test(option.trim().split(/\s/, 1)[0]!))
    .join("")
    .trim();
}

/** Variables that Node.js's test runner and watch mode set for their direct children only. */
const privateVariables = ["NODE_TEST_CONTEXT", "WATCH_REPORT_DEPENDENCIES", "NODE_CHANNEL_FD", "NODE_UNIQUE_ID"];

/** @returns the environment of a child: that of this process without its private variables, changed by `env` */
export function inheritedEnv(
  env: Readonly<Record<string, string | undefined>>,
  base: NodeJS.ProcessEnv = process.env,
): NodeJS.ProcessEnv {
  const merged: NodeJS.ProcessEnv = { ...base };
  for (const name of privateVariables) delete merged[name];
  if (merged["NODE_OPTIONS"] !== undefined) merged["NODE_OPTIONS"] = inheritedNodeOptions(merged["NODE_OPTIONS"]);
  for (const [name, value] of Object.entries(env)) {
    if (value === undefined) delete merged[name];
    else merged[name] = value;
  }
  return merged;
}
