/** Builds Helm, with which tests install the chart of the controller, from its Go module into a folder of the user's cache. */
import path from "node:path";
import { buildFrom, folderOf } from "./go.mjs";

const version = "4.3.2";

/** Returns the path of the program, which exists after `buildHelm`. */
export function helmProgram() {
  return path.join(helmFolder(), "helm");
}

/**
 * Builds Helm unless it has been built.
 * @returns 0, or 1 if it cannot be built; the reason has been printed
 */
export function buildHelm() {
  const packages = ["helm.sh/helm/v4/cmd/helm"];
  return buildFrom(helmFolder(), { what: `Helm ${version}`, takes: "3 minutes" }, [{ module: "helm", packages }]);
}

function helmFolder() {
  return folderOf(`helm-${version}`, ["helm"]);
}
