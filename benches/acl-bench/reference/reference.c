/* DPDK's access lists of IPv4's five fields behind plain calls. A null or a negative number is a refusal. */

#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

#include <rte_acl.h>
#include <rte_byteorder.h>
#include <rte_eal.h>

/* A packet as it lies in front of the classifier, in network order. */
struct packet {
	uint8_t protocol;
	uint8_t none[3];
	uint32_t source;
	uint32_t destination;
	uint16_t source_port;
	uint16_t destination_port;
};

struct rule {
	uint32_t source, destination;
	uint16_t source_first, source_last, destination_first, destination_last;
	uint8_t source_length, destination_length, protocol, protocol_mask;
};

enum { PROTOCOL, SOURCE, DESTINATION, SOURCE_PORT, DESTINATION_PORT, FIELDS };

RTE_ACL_RULE_DEF(dpdk_rule, FIELDS);

static const struct rte_acl_field_def fields[FIELDS] = {
	{ RTE_ACL_FIELD_TYPE_BITMASK, 1, PROTOCOL, 0, offsetof(struct packet, protocol) },
	{ RTE_ACL_FIELD_TYPE_MASK, 4, SOURCE, 1, offsetof(struct packet, source) },
	{ RTE_ACL_FIELD_TYPE_MASK, 4, DESTINATION, 2, offsetof(struct packet, destination) },
	{ RTE_ACL_FIELD_TYPE_RANGE, 2, SOURCE_PORT, 3, offsetof(struct packet, source_port) },
	{ RTE_ACL_FIELD_TYPE_RANGE, 2, DESTINATION_PORT, 3, offsetof(struct packet, destination_port) },
};

int reference_start(void)
{
	char *arguments[] = { "acl-bench", "--no-huge", "--no-shconf", "--no-pci", "--no-telemetry",
		"--iova-mode=va", "--log-level=lib.*:1", "--force-max-simd-bitwidth=512", "-l", "0", "-m", "4096" };

	return rte_eal_init(sizeof(arguments) / sizeof(arguments[0]), arguments);
}

void *reference_new(const struct rule *rules, uint32_t count)
{
	static unsigned int made;
	char name[16];
	struct rte_acl_param parameters = { .name = name, .socket_id = SOCKET_ID_ANY,
		.rule_size = RTE_ACL_RULE_SZ(FIELDS), .max_rule_num = count };
	struct rte_acl_config config = { .num_categories = 1, .num_fields = FIELDS };
	struct rte_acl_ctx *list;

	snprintf(name, sizeof(name), "list%u", made++);
	list = rte_acl_create(&parameters);
	if (list == NULL)
		return NULL;
	for (uint32_t at = 0; at < count; at++) {
		const struct rule *rule = &rules[at];
		struct dpdk_rule added = {
			/* The highest priority wins, and what is found is never 0. */
			.data = { .category_mask = 1, .priority = (int32_t)(count - at), .userdata = at + 1 },
			.field = {
				[PROTOCOL] = { .value.u8 = rule->protocol, .mask_range.u8 = rule->protocol_mask },
				[SOURCE] = { .value.u32 = rule->source, .mask_range.u32 = rule->source_length },
				[DESTINATION] = { .value.u32 = rule->destination,
					.mask_range.u32 = rule->destination_length },
				[SOURCE_PORT] = { .value.u16 = rule->source_first,
					.mask_range.u16 = rule->source_last },
				[DESTINATION_PORT] = { .value.u16 = rule->destination_first,
					.mask_range.u16 = rule->destination_last },
			},
		};

		if (rte_acl_add_rules(list, (struct rte_acl_rule *)&added, 1) != 0)
			return NULL;
	}
	for (int field = 0; field < FIELDS; field++)
		config.defs[field] = fields[field];
	return rte_acl_build(list, &config) == 0 ? list : NULL;
}

/* Writes 0 for no rule, or the number of the rule, counted from 1. */
int reference_classify(void *list, const struct packet *const *packets, uint32_t *found, uint32_t count, int algorithm)
{
	return rte_acl_classify_alg(list, (const uint8_t **)(uintptr_t)packets, found, count, 1, algorithm);
}
