/**
 * Lets processes that this one starts use what it has compiled. The bundle of the runtime leaves this file out and uses `dist/load.cjs`
 * instead, which compiles the bundle.
 */

/**
 * Stores the compiled code of the runtime, unless this process has found it stored.
 *
 * @hidden
 */
export function shareCompiledCode(): void {}
