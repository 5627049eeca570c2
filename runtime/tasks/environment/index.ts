/** Runtime environments: what the processes of a job or a task need before they can run. */
export { prepareEnvironment, taskEnvironmentOf } from "./prepare-environment.js";
export { RuntimeEnv, type RuntimeEnvOptions, runtimeEnvOf } from "./runtime-env.js";
