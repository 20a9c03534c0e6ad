package client;

import java.util.Properties;

/** The settings of the adapter's clients. */
final class Adapter {
    private Adapter() {}

    static Properties config(Options options) {
        Properties config = new Properties();
        config.setProperty("endpoint", options.get("endpoint"));
        config.setProperty("region", options.get("region", "local"));
        config.setProperty("projectId", options.get("project", "local"));
        config.setProperty("ak", options.get("ak", "dev"));
        config.setProperty("sk", options.get("sk", "dev-secret"));
        return config;
    }
}
