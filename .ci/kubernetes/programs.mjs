/**
 * Builds the programs of Kubernetes and etcd that tests run, from their Go modules, into a folder of the user's cache. The
 * first build takes about 9 minutes of two processors; later ones find the result. It uses Node.js only, without any package.
 */
import { buildFrom, folderOf } from "./go.mjs";

const version = "1.36.3";
const commands = ["kube-apiserver", "kube-controller-manager", "kube-scheduler", "kubectl", "kubelet"];
const component = "k8s.io/component-base/version";
const [major, minor] = version.split(".");
const described = `-X ${component}.gitVersion=v${version} -X ${component}.gitMajor=${major} -X ${component}.gitMinor=${minor}`;

/** Returns the folder of the programs. */
export function programsFolder() {
  return folderOf(version, ["programs", "etcd"], described);
}

/**
 * Builds the programs unless they have been built.
 * @returns 0, or 1 if they cannot be built; the reason has been printed
 */
export function buildPrograms() {
  return buildFrom(programsFolder(), { what: `Kubernetes ${version} and etcd`, takes: "9 minutes" }, [
    { module: "programs", flags: described, packages: commands.map((name) => `k8s.io/kubernetes/cmd/${name}`) },
    { module: "etcd", packages: ["."] },
  ]);
}
