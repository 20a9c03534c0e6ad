package client;

import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;
import org.apache.kafka.clients.consumer.ConsumerRecord;
import org.apache.kafka.clients.producer.ProducerRecord;
import org.apache.kafka.clients.producer.RecordMetadata;
import org.springframework.beans.factory.annotation.Value;
import org.springframework.boot.SpringApplication;
import org.springframework.boot.autoconfigure.SpringBootApplication;
import org.springframework.context.ConfigurableApplicationContext;
import org.springframework.context.annotation.Bean;
import org.springframework.context.annotation.Configuration;
import org.springframework.kafka.annotation.DltHandler;
import org.springframework.kafka.annotation.EnableKafkaRetryTopic;
import org.springframework.kafka.annotation.KafkaListener;
import org.springframework.kafka.annotation.RetryableTopic;
import org.springframework.kafka.config.ConcurrentKafkaListenerContainerFactory;
import org.springframework.kafka.config.TopicBuilder;
import org.springframework.kafka.core.ConsumerFactory;
import org.springframework.kafka.core.KafkaAdmin.NewTopics;
import org.springframework.kafka.core.KafkaTemplate;
import org.springframework.kafka.core.ProducerFactory;
import org.springframework.kafka.requestreply.ReplyingKafkaTemplate;
import org.springframework.kafka.support.KafkaHeaders;
import org.springframework.kafka.support.SendResult;
import org.springframework.messaging.handler.annotation.Header;
import org.springframework.messaging.handler.annotation.SendTo;
import org.springframework.retry.annotation.Backoff;
import org.springframework.scheduling.TaskScheduler;
import org.springframework.scheduling.concurrent.ThreadPoolTaskScheduler;
import org.springframework.stereotype.Component;

/**
 * A shop that creates its topics at the start, writes orders, reads those of everybody with three
 * threads, refuses payments, which go through retry topics to a dead letter topic, and asks and
 * answers questions. Arguments: bootstrap, its name, how many orders and payments it writes, and
 * properties of Spring as key=value. When all that it wrote is acknowledged and its questions are
 * answered it prints "ready", and works on until its input ends.
 *
 * <p>Prints "sent TOPIC PARTITION OFFSET VALUE" and "record TOPIC PARTITION OFFSET VALUE" for orders,
 * "attempt TOPIC VALUE" for each time that a payment is refused, "dead VALUE" for one that was
 * given up, and "answer VALUE".
 */
@SpringBootApplication
@EnableKafkaRetryTopic
public class Shop {
    private static final long PATIENCE_SECONDS = 40;

    public static void main(String[] args) throws Exception {
        List<String> properties = new ArrayList<>(List.of("--spring.kafka.bootstrap-servers=" + args[0], "--shop=" + args[1],
                "--spring.kafka.consumer.auto-offset-reset=earliest", "--spring.main.banner-mode=off", "--logging.level.root=warn",
                "--logging.level.org.springframework.kafka.retrytopic=off")); // it logs each payment that is given up
        for (int i = 4; i < args.length; i++) {
            properties.add("--" + args[i]);
        }
        try (ConfigurableApplicationContext context = SpringApplication.run(Shop.class, properties.toArray(String[]::new))) {
            Shop shop = context.getBean(Shop.class);
            shop.sell(args[1], Integer.parseInt(args[2]), Integer.parseInt(args[3]));
            shop.ask(args[1]);
            say("ready");
            while (System.in.read() >= 0) {
                // only its end counts
            }
        }
    }

    private final KafkaTemplate<String, String> template;
    private final ReplyingKafkaTemplate<String, String, String> questions;

    Shop(KafkaTemplate<String, String> template, ReplyingKafkaTemplate<String, String, String> questions) {
        this.template = template;
        this.questions = questions;
    }

    private void sell(String name, int orders, int payments) throws Exception {
        List<CompletableFuture<SendResult<String, String>>> sent = new ArrayList<>();
        for (int i = 0; i < orders; i++) {
            sent.add(template.send("orders", "customer-" + i % 20, name + "-order-" + i));
        }
        for (CompletableFuture<SendResult<String, String>> result : sent) {
            SendResult<String, String> stored = result.get(PATIENCE_SECONDS, TimeUnit.SECONDS);
            RecordMetadata at = stored.getRecordMetadata();
            say("sent %s %d %d %s", at.topic(), at.partition(), at.offset(), stored.getProducerRecord().value());
        }
        for (int i = 0; i < payments; i++) {
            template.send("payments", "customer-" + i, name + "-payment-" + i).get(PATIENCE_SECONDS, TimeUnit.SECONDS);
        }
    }

    private void ask(String name) throws Exception {
        ConsumerRecord<String, String> answer =
                questions.sendAndReceive(new ProducerRecord<>("questions", name)).get(PATIENCE_SECONDS, TimeUnit.SECONDS);
        say("answer %s", answer.value());
    }

    /** Prints a line. Listeners of several threads do. */
    private static void say(String format, Object... values) {
        System.out.println(String.format(format, values));
    }

    /** What the application listens to. */
    @Component
    static class Listeners {
        @KafkaListener(id = "shop", topics = "orders", concurrency = "3", batch = "true")
        void orders(List<ConsumerRecord<String, String>> records) {
            for (ConsumerRecord<String, String> record : records) {
                say("record %s %d %d %s", record.topic(), record.partition(), record.offset(), record.value());
            }
        }

        @RetryableTopic(attempts = "3", backoff = @Backoff(delay = 200, multiplier = 2), numPartitions = "2", kafkaTemplate = "template")
        @KafkaListener(id = "cashier", topics = "payments")
        void payments(String value, @Header(KafkaHeaders.RECEIVED_TOPIC) String topic) {
            say("attempt %s %s", topic, value);
            throw new IllegalStateException("no money");
        }

        @DltHandler
        void dead(String value) {
            say("dead %s", value);
        }

        @KafkaListener(id = "clerk", topics = "questions")
        @SendTo
        String questions(String value) {
            return "yes-" + value;
        }
    }

    /** What Spring has to be told, beside its properties. */
    @Configuration
    static class Beans {
        @Bean
        NewTopics topics() {
            return new NewTopics(TopicBuilder.name("orders").partitions(3).build(), TopicBuilder.name("payments").partitions(2).build(),
                    TopicBuilder.name("questions").partitions(1).build(), TopicBuilder.name("answers").partitions(1).build());
        }

        @Bean
        KafkaTemplate<String, String> template(ProducerFactory<String, String> producers,
                ConcurrentKafkaListenerContainerFactory<?, ?> listeners) {
            KafkaTemplate<String, String> template = new KafkaTemplate<>(producers);
            listeners.setReplyTemplate(template);
            return template;
        }

        /** Each instance reads all answers, in a group of its own, and takes those to its questions. */
        @Bean
        ReplyingKafkaTemplate<String, String, String> questions(ProducerFactory<String, String> producers,
                ConsumerFactory<String, String> consumers,
                @Value("${shop}") String name) {
            var listeners = new ConcurrentKafkaListenerContainerFactory<String, String>();
            listeners.setConsumerFactory(consumers);
            var answers = listeners.createContainer("answers");
            answers.getContainerProperties().setGroupId("answers-" + name);
            ReplyingKafkaTemplate<String, String, String> questions = new ReplyingKafkaTemplate<>(producers, answers);
            questions.setSharedReplyTopic(true);
            return questions;
        }

        /** Retry topics wait with it. */
        @Bean
        TaskScheduler scheduler() {
            return new ThreadPoolTaskScheduler();
        }
    }
}
