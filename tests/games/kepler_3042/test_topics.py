"""How the rules are divided: each node belongs to one topic."""

from __future__ import annotations

from kepler_envs.games.kepler_3042 import (
    rules_actions,
    rules_bonus,
    rules_cards,
    rules_movement,
    rules_quantum,
    setup,
)
from kepler_envs.games.kepler_3042.state import Node

TOPICS = (setup, rules_actions, rules_bonus, rules_cards, rules_movement)


def nodes_of(word: int) -> set[Node]:
    return {node for node in Node if int(word) >> node & 1}


def test_every_node_belongs_to_one_topic() -> None:
    """The end of a turn is the only node of the course of the game, and the end of the game is nobody's."""
    listed = [node for topic in TOPICS for node in nodes_of(topic.NODES)]
    assert sorted(listed) == sorted(set(Node) - {Node.END_OF_TURN, Node.OVER})


def test_quantum_operations_are_possible_where_the_specification_says() -> None:
    """Not where something chosen is still to be paid or placed, nor on a progress card."""
    without = {
        Node.FIRST_TECHNOLOGY, Node.SOLO_BONUS, Node.PLACE, Node.DEVELOPMENT_PAYMENT, Node.MOVER, Node.GOING_ON,
        Node.MAPPING_TILE,
        Node.BONUS_BURN, Node.BONUS_ANTIMATTER, Node.OVER, *(node for node in Node if node.name.startswith("CARD_")),
    }  # fmt: skip
    assert nodes_of(rules_quantum.NODES) == set(Node) - without
