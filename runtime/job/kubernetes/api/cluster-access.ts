/** Finds the way to a cluster: the kubeconfig file and its context, or the service account of the pod in which the program runs. */
import { existsSync } from "node:fs";
import type { RequestOptions } from "node:https";
import { homedir } from "node:os";
import { delimiter, join } from "node:path";
import type { ClusterAccess } from "./access.js";
import { loadClientNode } from "./client-node.js";
import { type KubeContext, readKubeContext } from "./kubeconfig.js";
import { podAccess, serviceAccountFolder } from "./pod-access.js";

/** Which cluster, and as whom. */
export interface AccessOptions {
  /** The kubeconfig file; null for the usual places. */
  readonly kubeconfig: string | null;
  /** The context; null for the current one. */
  readonly context: string | null;
}

/** The files and variables that a program reads. Tests give others. */
export interface AccessPlaces {
  readonly env: Readonly<Record<string, string | undefined>>;
  readonly home: string;
  /** The folder of the service account of a pod. */
  readonly serviceAccount: string;
}

const usualPlaces: AccessPlaces = {
  env: process.env,
  home: homedir(),
  serviceAccount: serviceAccountFolder,
};

/**
 * Finds the access to a cluster.
 * @throws Error with what to do if there is none, the file cannot be used, or it has no such context
 */
export async function openAccess(options: AccessOptions, places: AccessPlaces = usualPlaces): Promise<ClusterAccess> {
  const file = findConfig(options, places);
  if (file === undefined) return podAccess(places.env, places.serviceAccount);
  let read = await readAccess(file, options.context);
  const { context } = read;
  return {
    server: context.server,
    who: `user "${context.user}" of context "${context.name}"`,
    isInside: false,
    source: `context "${context.name}" of ${file}`,
    requestOptions: () => read.requestOptions(),
    reload: async () => {
      read = await readAccess(file, context.name);
    },
  };
}

interface ReadAccess {
  readonly context: KubeContext;
  requestOptions(): Promise<RequestOptions>;
}

/** Reads a context. The package that knows all ways to log in takes longer to load than a job to be submitted, so it is loaded for those that need it. */
async function readAccess(file: string, wanted: string | null): Promise<ReadAccess> {
  const context = await readKubeContext(file, wanted);
  if (context.isStatic) return { context, requestOptions: async () => context.requestOptions() };
  const { KubeConfig } = await loadClientNode();
  const config = new KubeConfig();
  config.loadFromFile(file);
  config.setCurrentContext(context.name);
  const requestOptions = async () => {
    const request: RequestOptions = {};
    await config.applyToHTTPSOptions(request);
    return request;
  };
  return { context, requestOptions };
}

/** Finds the file as `kubectl` does. @returns undefined if there is none, and this program runs in a pod with a service account */
function findConfig(
  { kubeconfig, context }: AccessOptions,
  { env, home, serviceAccount }: AccessPlaces,
): string | undefined {
  if (kubeconfig !== null) return kubeconfig;
  const named = env["KUBECONFIG"]?.split(delimiter).filter((file) => file !== "") ?? [];
  const [first] = named.length === 0 ? [join(home, ".kube", "config")] : named;
  if (named.length > 1) {
    throw new Error(
      `cannot use Kubernetes: KUBECONFIG names ${named.length} files, which Viceroy does not merge; write them into one by ` +
        '"kubectl config view --flatten", or name one with the option kubeconfig',
    );
  }
  if (named.length === 1 || existsSync(first!)) return first!;
  if (env["KUBERNETES_SERVICE_HOST"] !== undefined && existsSync(join(serviceAccount, "token"))) {
    if (context === null) return undefined;
    throw new Error(
      `cannot use Kubernetes: the context "${context}" needs a kubeconfig file, and this pod has none; leave the context out ` +
        "to use the service account of the pod",
    );
  }
  throw new Error(
    `cannot use Kubernetes: there is no kubeconfig file ${first}, KUBECONFIG names none, and this program does not run in a ` +
      "pod with a service account; log in to a cluster, or name a file with the option kubeconfig",
  );
}
