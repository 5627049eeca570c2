/**
 * Loads `@kubernetes/client-node`, which reads kubeconfig files and knows how users log in. It is an optional peer: a program without jobs of
 * Kubernetes does not need it.
 */

/** The part of the package that jobs use. Its versions 1.4 and 2 both have it. */
export interface ClientNode {
  readonly KubeConfig: new () => KubeConfig;
}

/** A configuration of the package: clusters, users and contexts. */
export interface KubeConfig {
  readonly contexts: readonly { readonly name: string; readonly namespace?: string | undefined }[];
  readonly currentContext: string;
  loadFromFile(file: string): void;
  loadFromString(text: string): void;
  setCurrentContext(context: string): void;
  getCurrentContext(): string;
  getCurrentCluster(): { readonly server: string; readonly name: string } | null;
  getCurrentUser(): { readonly name: string } | null;
  /** Writes the certificates, headers and the agent of the user and the cluster into the options of a request. */
  applyToHTTPSOptions(options: object): Promise<void>;
}

/** The oldest version that has what jobs use, and the newest one for old versions of Node.js. */
const installCommand = "npm install @kubernetes/client-node@1.4";

let loading: Promise<ClientNode> | undefined;

/**
 * Loads the package once.
 * @param load loads it; tests give another one
 * @throws Error with what to do if it is not installed, or its version cannot be used
 */
export function loadClientNode(load: () => Promise<unknown> = importPackage): Promise<ClientNode> {
  if (load !== importPackage) return checked(load);
  loading ??= checked(load);
  return loading;
}

// The declarations of the package are not needed to compile Viceroy's own ones.
const importPackage = (): Promise<unknown> => import("@kubernetes/client-node" as string);

async function checked(load: () => Promise<unknown>): Promise<ClientNode> {
  let found: unknown;
  try {
    found = await load();
  } catch (cause) {
    throw new Error(whyNotLoaded(cause), { cause });
  }
  const { KubeConfig } = found as Partial<ClientNode>;
  if (typeof KubeConfig?.prototype?.applyToHTTPSOptions === "function") return found as ClientNode;
  throw new Error(
    `cannot use Kubernetes: the installed version of @kubernetes/client-node is too old; install 1.4 or newer: ${installCommand}`,
  );
}

function whyNotLoaded(cause: unknown): string {
  const { code, message } = cause as NodeJS.ErrnoException;
  const isMissing = code === "ERR_MODULE_NOT_FOUND" && message.includes("@kubernetes/client-node");
  if (isMissing)
    return `cannot use Kubernetes: the package @kubernetes/client-node is not installed: ${installCommand}`;
  return (
    `cannot use Kubernetes: @kubernetes/client-node does not load on Node.js ${process.versions.node}: ${message}; ` +
    `its version 2 needs Node.js 22.19 or newer, and version 1.4 works on all: ${installCommand}`
  );
}
