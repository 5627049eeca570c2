/** The tasks. Worker processes load this module. */
import { task } from "viceroy/tasks";
import { CreateTask, TrainTask } from "../generated/search.js";
import { createNetwork, trainNetwork } from "./network.js";

export const create = task(import.meta.url, "create", CreateTask, createNetwork);
export const train = task(import.meta.url, "train", TrainTask, trainNetwork);
