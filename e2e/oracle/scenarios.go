package oracle

import "slices"

// Scenarios are all of them. Each has a golden file of its name.
func Scenarios() []Scenario {
	return slices.Concat(recordScenarios, badBatchScenarios, produceScenarios, fetchScenarios, topicScenarios, topicAdminScenarios, apiScenarios,
		groupScenarios, groupAdminScenarios, joiningScenarios, runningScenarios, staticScenarios, offsetScenarios, stateScenarios,
		consumerScenarios, consumerAdminScenarios, migrationScenarios)
}
