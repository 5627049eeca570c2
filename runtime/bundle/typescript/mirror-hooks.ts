/**
 * The hook of Node.js's module loader by which modules that tsx loads find the prepared modules of the program, so that
 * each module is loaded once. Node.js runs it in a thread of its own, where this file is loaded by itself.
 */

/** The data that the thread of the program passes to the hook. */
export interface HooksData {
  /** The URLs of the prepared modules, by the URLs of their sources. */
  readonly modules: Readonly<Record<string, string>>;
}

interface ResolveContext {
  parentURL?: string;
}
interface ResolveResult {
  readonly url: string;
  readonly format?: string | null;
  readonly shortCircuit?: boolean;
}
type Next = (specifier: string, context: ResolveContext) => Promise<ResolveResult>;

const scheme = "viceroy-from:";

/** Returns a specifier that is resolved as if the module with the URL `parent` imported it. */
export function fromScheme(specifier: string, parent: string): string {
  return scheme + JSON.stringify([specifier, parent]);
}

let modules: HooksData["modules"];

export function initialize(data: HooksData): void {
  ({ modules } = data);
}

export async function resolve(specifier: string, context: ResolveContext, next: Next): Promise<ResolveResult> {
  let found: ResolveResult;
  if (specifier.startsWith(scheme)) {
    const [given, parentURL] = JSON.parse(specifier.slice(scheme.length)) as [string, string];
    found = await next(given, { ...context, parentURL });
  } else found = await next(specifier, context);
  const url = modules[found.url];
  const format = url?.endsWith(".cjs") ? "commonjs" : "module";
  return url === undefined ? found : { url, format, shortCircuit: true };
}
